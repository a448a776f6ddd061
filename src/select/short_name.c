// SPDX-License-Identifier: MIT
// Cuts a demangled name down to the function's own.
#include "select/short_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Drops everything inside the brackets that open at *at; `at` then stands behind them.
static const char *skip_brackets(const char *at, char open, char close)
{
    int depth = 0;
    for (; *at; at++) {
        if (*at == open)
            depth++;
        if (*at == close && --depth == 0)
            return at + 1;
    }
    return at;
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

char *kr_short_name(const char *demangled)
{
    char *name = malloc(strlen(demangled) + 1);
    if (!name)
        return NULL;
    size_t length = 0;
    const char *at = demangled;
    while (*at) {
        // These look like brackets but are part of a name.
        static const char anonymous[] = "(anonymous namespace)::";
        if (starts(at, anonymous)) {
            at += strlen(anonymous);
            continue;
        }
        if (*at == '<') {
            at = skip_brackets(at, '<', '>');
            continue;
        }
        if (*at == '(' || *at == '[') // parameters, or "[clone ...]"
            break;
        if (*at == ' ') { // what came before was the return type
            length = 0;
            at++;
            continue;
        }
        if (starts(at, "::")) {
            length = 0;
            at += 2;
            continue;
        }
        name[length++] = *at++;
    }
    name[length] = '\0';
    if (length == 0)
        strcpy(name, demangled);
    return name;
}
