// SPDX-License-Identifier: MIT
// Owns the names of the debug switches.
#include "engine/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const fault_names[] = {
#define X(name, text) #name,
    KR_FAULT_MAP(X)
#undef X
};

const char *kr_fault_name(enum kr_fault fault)
{
    return fault_names[fault];
}

uint32_t kr_fault_parse(const char *list, void (*complain)(void *arg, const char *name), void *arg)
{
    uint32_t bits = 0;
    while (list && *list) {
        size_t length = strcspn(list, ",");
        unsigned i = 0;
        while (i < KR_FAULT_COUNT &&
               (strlen(fault_names[i]) != length || strncmp(fault_names[i], list, length) != 0))
            i++;
        if (i < KR_FAULT_COUNT) {
            bits |= UINT32_C(1) << i;
        } else if (length > 0) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)length, list);
            complain(arg, name);
        }
        list += length + (list[length] == ',');
    }
    return bits;
}
