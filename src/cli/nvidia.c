// SPDX-License-Identifier: MIT
#include "cli/nvidia.h"
#include "cuda/list.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

bool kr_nvidia_here(void)
{
    return access(KR_NVIDIA_DRIVER, F_OK) == 0;
}

bool kr_nvidia_named(const struct kr_groups *groups)
{
    return groups->count > 0 && groups->groups[0].count > 0 && strstr(groups->groups[0].names[0], "__");
}

static int ask_here(const char *library, const struct kr_cuda_list *list, char *error, size_t error_bytes)
{
    __typeof__(kreplay_cuda_list) *function = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle)
        *(void **)&function = dlsym(handle, KR_CUDA_LIST_FUNCTION);
    if (!function) {
        snprintf(error, error_bytes, "%s", dlerror());
        return KREPLAY_UNAVAILABLE;
    }
    return function(list, error, error_bytes);
}

// In a process of its own: this one is to start a program, and must not have CUDA initialised then. What the
// callbacks write has to be in shared memory, `error` too.
static int ask(const char *library, const struct kr_cuda_list *list, char *error, size_t error_bytes)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        status = ask_here(library, list, error, error_bytes);
        fflush(stdout);
        _exit(status ? 1 : 0);
    }
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    if (child > 0 && WIFEXITED(status))
        return WEXITSTATUS(status) ? -1 : 0;
    snprintf(error, error_bytes, "the GPU's counters cannot be listed: %s",
             child < 0 ? strerror(errno) : "the process that asked CUDA was ended by a signal");
    return -1;
}

#define NAMES_MOST 4096

struct search { // in shared memory
    const struct kr_groups *groups;
    const char *missing;
    char near[128]; // a metric that is spelled alike, to the suffix
    char error[512];
    bool found[NAMES_MOST]; // by place in all groups
};

static int ignore_gpu(void *arg, uint32_t index, const char *product, const char *chip)
{
    (void)arg, (void)index, (void)product, (void)chip;
    return 0;
}

static int look(void *arg, const kreplay_counter *counter)
{
    struct search *search = arg;
    size_t place = 0;
    for (size_t g = 0; g < search->groups->count; g++)
        for (size_t i = 0; i < search->groups->groups[g].count && place < NAMES_MOST; i++, place++)
            search->found[place] |= strcmp(search->groups->groups[g].names[i], counter->name) == 0;
    return 0;
}

static int look_near(void *arg, const kreplay_counter *counter)
{
    struct search *search = arg;
    size_t stem = strcspn(search->missing, ".");
    if (!*search->near && strncmp(counter->name, search->missing, stem) == 0)
        snprintf(search->near, sizeof(search->near), "%s", counter->name);
    return 0;
}

static const char *first_missing(const struct search *search)
{
    size_t place = 0;
    for (size_t g = 0; g < search->groups->count; g++)
        for (size_t i = 0; i < search->groups->groups[g].count && place < NAMES_MOST; i++, place++)
            if (!search->found[place])
                return search->groups->groups[g].names[i];
    return NULL;
}

int kr_nvidia_check(const char *library, const struct kr_groups *groups, char *error, size_t error_bytes)
{
    struct search *search =
        mmap(NULL, sizeof(*search), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (search == MAP_FAILED) {
        snprintf(error, error_bytes, "out of memory");
        return -1;
    }
    search->groups = groups;
    struct kr_cuda_list list = {.arg = search, .gpu = ignore_gpu, .metric = look};
    int status = ask(library, &list, search->error, sizeof(search->error));
    snprintf(error, error_bytes, "%s", search->error);
    search->missing = status ? NULL : first_missing(search);
    if (search->missing) {
        list.metric = look_near;
        (void)ask(library, &list, search->error, sizeof(search->error));
        snprintf(error, error_bytes, "unknown counter %s%s%s", search->missing,
                 *search->near ? "; there is " : "", search->near);
        status = -1;
    }
    munmap(search, sizeof(*search));
    return status;
}

static int print_gpu(void *arg, uint32_t index, const char *product, const char *chip)
{
    (void)arg;
    printf("%sGPU %u: %s (%s)\n\n", index ? "\n" : "", index, product, chip);
    return 0;
}

// The suffix begins at the first dot behind the double underscore: prefixes may have dots of their own.
static size_t stem_length(const char *name)
{
    const char *rest = strstr(name, "__");
    return rest ? (size_t)(rest - name) + strcspn(rest, ".") : strlen(name);
}

static int print_metric(void *arg, const kreplay_counter *counter)
{
    char *last = arg;
    size_t length = stem_length(counter->name);
    if (strncmp(last, counter->name, length) == 0 && last[length] == '\0')
        return 0;
    printf("%-80.*s %-8s %s\n", (int)length, counter->name, counter->block, counter->description);
    snprintf(last, 256, "%.*s", (int)length, counter->name);
    return 0;
}

int kr_nvidia_list(const char *library, char *error, size_t error_bytes)
{
    char last[256] = "";
    struct kr_cuda_list list = {.arg = last, .gpu = print_gpu, .metric = print_metric};
    if (ask_here(library, &list, error, error_bytes))
        return -1;
    printf("\nA name needs a suffix: .sum .avg .min .max for counters, also with .per_second,\n"
           ".per_cycle_elapsed or .pct_of_peak_sustained_elapsed; .ratio .pct .max_rate for ratios;\n"
           ".avg.pct_of_peak_sustained_elapsed for throughputs.\n");
    return 0;
}
