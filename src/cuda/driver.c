// SPDX-License-Identifier: MIT
// Opens the CUDA driver.
#include "cuda/driver.h"

#include "kreplay/kreplay.h"

#include <dlfcn.h>
#include <stdio.h>

struct entry {
    const char *name;
    int version;
    size_t offset;
};

static const struct entry entries[] = {
#define X(field, function, version) {#function, version, offsetof(struct kr_driver, field)},
    KR_DRIVER_MAP(X)
#undef X
};

const char *kr_driver_text(const struct kr_driver *driver, CUresult result)
{
    const char *name = NULL;
    return driver->get_error_name(result, &name) == CUDA_SUCCESS && name ? name : "an unknown error";
}

int kr_driver_open(struct kr_driver *driver, char *error, size_t error_bytes)
{
    __typeof__(cuGetProcAddress) *get_address = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        snprintf(error, error_bytes, "%s", dlerror());
        return KREPLAY_UNAVAILABLE;
    }
    *(void **)&get_address = dlsym(library, "cuGetProcAddress_v2");
    if (!get_address) {
        snprintf(error, error_bytes, "the CUDA driver is older than 12.5 (it has no cuGetProcAddress_v2)");
        return KREPLAY_UNAVAILABLE;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *function = NULL;
        if (get_address(entries[i].name, &function, entries[i].version, CU_GET_PROC_ADDRESS_DEFAULT, NULL) !=
                CUDA_SUCCESS ||
            !function) {
            snprintf(error, error_bytes, "the CUDA driver is older than 12.5 (it has no %s)",
                     entries[i].name);
            return KREPLAY_UNAVAILABLE;
        }
        *(void **)((char *)driver + entries[i].offset) = function;
    }
    return 0;
}
