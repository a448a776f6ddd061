// SPDX-License-Identifier: MIT
#include "tool/user_tool.h"

#include "kreplay/kreplay.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// A GPU runtime loads kreplay for itself alone. The tool's calls are to be answered by this copy, whichever back
// end it has, also when the tool was linked with the library of another one: what is global comes first.
static void make_own_functions_global(void)
{
    Dl_info info;
    if (dladdr((void *)make_own_functions_global, &info) != 0 && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

int kr_user_tool_load(const char *path, char *error, size_t error_bytes)
{
    make_own_functions_global();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        snprintf(error, error_bytes, "the tool cannot be loaded: %s", why ? why : path);
        return KREPLAY_IO;
    }
    int (*start)(void) = NULL;
    void *symbol = dlsym(library, "kreplay_tool_start");
    memcpy(&start, &symbol, sizeof(start));
    if (!start) {
        snprintf(error, error_bytes, "%s is no tool of kreplay's: it has no function kreplay_tool_start",
                 path);
        return KREPLAY_UNSUPPORTED;
    }
    int status = start();
    if (status == 0)
        return KREPLAY_OK;
    snprintf(error, error_bytes, "the tool %s did not start: %d (%s)", path, status,
             kreplay_status_text(status));
    return KREPLAY_UNSUPPORTED;
}
