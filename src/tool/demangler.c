// SPDX-License-Identifier: MIT
// __cxa_demangle of the program's libstdc++. HIP, ROCr and most CUDA programs need that library themselves.
#include "tool/demangler.h"

#include "select/selection.h"
#include "tool/say.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static kr_demangler found;

static void find(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    // Loaded for a plug-in only, as in Python, it is in no global scope. Only looked at, never loaded.
    void *library = symbol == NULL ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library != NULL)
        symbol = dlsym(library, "__cxa_demangle");
    memcpy(&found, &symbol, sizeof(found)); // ISO C converts no data pointer to a function
    if (found == NULL)
        kr_say(NULL, "the program has loaded no C++ library that could demangle kernel names: they are held "
                     "against the options as they are, mangled");
}

char *kr_demangle(const char *mangled, char *buffer, size_t *bytes, int *status)
{
    pthread_once(&once, find);
    return found != NULL ? found(mangled, buffer, bytes, status) : NULL;
}
