// SPDX-License-Identifier: MIT
// Finds and opens CUPTI.
#include "cuda/cupti.h"

#include "kreplay/kreplay.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

// CUPTI_API_VERSION of CUDA 12.6 update 2, the first with the range profiler.
#define OLDEST_VERSION 25u

struct entry {
    const char *name;
    size_t offset;
};

static const struct entry entries[] = {
#define X(field, function) {#function, offsetof(struct kr_cupti, field)},
    KR_CUPTI_MAP(X)
#undef X
};

// Newest first. With the CUDA 12 toolkits the library's name ends in .12, with CUDA 13 in .13.
static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

static const char *const folders[] = {
    "/usr/local/cuda/extras/CUPTI/lib64",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/x86_64-linux/lib",
    "/usr/local/cuda/targets/sbsa-linux/lib",
};

// Variables that name a CUDA toolkit, and where CUPTI lies in one.
static const char *const toolkits[] = {"CUDA_HOME", "CUDA_PATH"};
static const char *const toolkit_folders[] = {"extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib",
                                              "targets/sbsa-linux/lib"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void *open_in(const char *first, const char *second)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < COUNT(names); i++) {
        void *library;
        if (snprintf(path, sizeof path, "%s%s%s/%s", first, second ? "/" : "", second ? second : "",
                     names[i]) >= (int)sizeof path)
            continue;
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

static void *open_toolkit(const char *variable)
{
    const char *toolkit = getenv(variable);
    void *library = NULL;
    for (size_t i = 0; toolkit && *toolkit && !library && i < COUNT(toolkit_folders); i++)
        library = open_in(toolkit, toolkit_folders[i]);
    return library;
}

static void *open_any(void)
{
    void *library = NULL;
    for (size_t i = 0; i < COUNT(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (size_t i = 0; i < COUNT(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < COUNT(toolkits) && !library; i++)
        library = open_toolkit(toolkits[i]);
    for (size_t i = 0; i < COUNT(folders) && !library; i++)
        library = open_in(folders[i], NULL);
    return library;
}

#define REMEDY                                                                                               \
    "CUDA 12.6 update 2 or newer is needed: point CUDA_HOME or LD_LIBRARY_PATH at one, or update the "       \
    "framework "                                                                                             \
    "that brings this library"

static int fill(struct kr_cupti *cupti, void *library, char *error, size_t error_bytes)
{
    uint32_t version = 0;
    Dl_info place = {0};

    *(void **)&cupti->get_version = dlsym(library, "cuptiGetVersion");
    if (!cupti->get_version || cupti->get_version(&version) != CUPTI_SUCCESS) {
        snprintf(error, error_bytes, "the libcupti that was found has no version; " REMEDY);
        return KREPLAY_UNAVAILABLE;
    }
    // A function pointer is an address, on the systems that dladdr exists on.
    if (dladdr(*(void **)&cupti->get_version, &place) == 0)
        place.dli_fname = "CUPTI";
    if (version < OLDEST_VERSION) {
        snprintf(error, error_bytes,
                 "%s has CUPTI's version %u, which is without the range profiler; " REMEDY, place.dli_fname,
                 version);
        return KREPLAY_UNAVAILABLE;
    }
    for (size_t i = 0; i < COUNT(entries); i++) {
        void *function = dlsym(library, entries[i].name);
        if (!function) {
            snprintf(error, error_bytes, "%s (CUPTI's version %u) has no %s; " REMEDY, place.dli_fname,
                     version, entries[i].name);
            return KREPLAY_UNAVAILABLE;
        }
        *(void **)((char *)cupti + entries[i].offset) = function;
    }
    return 0;
}

int kr_cupti_open(struct kr_cupti *cupti, char *error, size_t error_bytes)
{
    void *library = open_any();

    if (!library) {
        snprintf(
            error, error_bytes,
            "there is no libcupti.so.13 or .12 among the libraries of this process, in LD_LIBRARY_PATH, in "
            "CUDA_HOME or in /usr/local/cuda");
        return KREPLAY_UNAVAILABLE;
    }
    int status = fill(cupti, library, error, error_bytes);
    if (status != 0)
        dlclose(library);
    return status;
}

const char *kr_cupti_text(const struct kr_cupti *cupti, CUptiResult result)
{
    const char *text = NULL;
    if (cupti->get_result_string(result, &text) != CUPTI_SUCCESS || !text)
        return "unknown CUPTI error";
    return text;
}
