// SPDX-License-Identifier: MIT
// Owns the copies of what back ends have told of code objects and kernels.
#include "engine/known.h"

#include "engine/internal.h"

#include <stdlib.h>
#include <string.h>

// A copy of a record whose one string, behind `text`, lies in the same block. `bytes` is the record's size in this
// header: shorter ones of callers are filled up with zeros.
static void *copy(const void *record, size_t known_bytes, size_t bytes, const char *text, size_t text_offset)
{
    size_t text_bytes = text ? strlen(text) + 1 : 0;
    char *made = calloc(1, bytes + text_bytes);
    if (!made)
        return NULL;
    memcpy(made, record, known_bytes < bytes ? known_bytes : bytes);
    memcpy(made, &bytes, sizeof bytes); // size comes first
    char *at = text ? made + bytes : NULL;
    if (text)
        memcpy(at, text, text_bytes);
    memcpy(made + text_offset, &at, sizeof at);
    return made;
}

static int keep(void ***list, size_t *count, size_t *capacity, void *made)
{
    if (!made || kr_grow((void **)list, capacity, *count + 1, sizeof **list) != 0) {
        free(made);
        return KREPLAY_NO_MEMORY;
    }
    (*list)[(*count)++] = made;
    return KREPLAY_OK;
}

int kr_known_code_object(struct kr_known *known, const kreplay_code_object *code_object)
{
    return keep((void ***)&known->code_objects, &known->code_object_count, &known->code_object_capacity,
                copy(code_object, code_object->size, sizeof *code_object, code_object->uri,
                     offsetof(kreplay_code_object, uri)));
}

int kr_known_kernel(struct kr_known *known, const kreplay_kernel *kernel)
{
    return keep((void ***)&known->kernels, &known->kernel_count, &known->kernel_capacity,
                copy(kernel, kernel->size, sizeof *kernel, kernel->name, offsetof(kreplay_kernel, name)));
}

void kr_known_free(struct kr_known *known)
{
    for (size_t i = 0; i < known->code_object_count; i++)
        free(known->code_objects[i]);
    for (size_t i = 0; i < known->kernel_count; i++)
        free(known->kernels[i]);
    free(known->code_objects);
    free(known->kernels);
    *known = (struct kr_known){0};
}
