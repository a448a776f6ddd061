// SPDX-License-Identifier: MIT
// Demangling by libiberty.
#include "store/names.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

// A kernel's symbol ends in ".kd" in the code object; that is not part of its name.
static char *without_suffix(const char *mangled)
{
    size_t length = strlen(mangled);
    if (length > 3 && strcmp(mangled + length - 3, ".kd") == 0)
        length -= 3;
    return strndup(mangled, length);
}

char *kr_name_demangle(const char *mangled)
{
    char *plain = without_suffix(mangled);
    if (!plain || strncmp(plain, "_Z", 2) != 0)
        return plain;
    char *demangled = cplus_demangle(plain, DMGL_PARAMS | DMGL_ANSI);
    if (!demangled)
        return plain;
    free(plain);
    return demangled;
}
