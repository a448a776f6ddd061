// SPDX-License-Identifier: MIT
// kreplay list: the counters of an architecture.
#include "cli/checks.h"
#include "cli/install.h"
#include "cli/nvidia.h"
#include "cli/say.h"
#include "cli/verbs.h"
#include "counters/catalogue.h"

#include <stdlib.h>
#include <string.h>

static void print(const struct kr_catalogue *catalogue)
{
    size_t width = 0, hardware = 0;
    for (size_t i = 0; i < catalogue->counter_count; i++) {
        size_t length = strlen(catalogue->counters[i].name);
        width = length > width ? length : width;
        hardware += catalogue->counters[i].block != NULL;
    }
    printf("%s: %zu hardware counters\n\n%-*s  block  event\n", catalogue->arch, hardware, (int)width,
           "counter");
    for (size_t i = 0; i < catalogue->counter_count; i++) {
        const struct kr_counter_def *counter = &catalogue->counters[i];
        if (counter->block)
            printf("%-*s  %-5s  %5u\n", (int)width, counter->name, counter->block, counter->event);
    }
    printf("\nDerived from these by the given expressions (%zu):\n", catalogue->counter_count - hardware);
    for (size_t i = 0; i < catalogue->counter_count; i++) {
        const struct kr_counter_def *counter = &catalogue->counters[i];
        if (!counter->block)
            printf("%-*s  = %s\n", (int)width, counter->name, counter->expression ? counter->expression : "");
    }
    printf("\nCounters of a block that fit in one group:\n");
    for (size_t i = 0; i < catalogue->block_count; i++)
        printf("%-8s %2u\n", catalogue->blocks[i].name, catalogue->blocks[i].slots);
}

static int list_nvidia(const struct kr_options *options)
{
    char error[512] = "out of memory";
    char *library = kr_install_library(KR_NVIDIA_LIBRARY);
    int status = library ? kr_nvidia_list(library, error, sizeof(error)) : -1;
    if (status)
        kr_say(options, KR_LEVEL_ERROR, "%s", error);
    free(library);
    return status ? KR_EXIT_USAGE : 0;
}

int kr_verb_list(const struct kr_options *options)
{
    struct kr_arches arches = {0};
    if (options->arch)
        snprintf(arches.names[arches.count++], sizeof(arches.names[0]), "%s", options->arch);
    else
        kr_read_arches(KR_TOPOLOGY, &arches);
    if (arches.count == 0 && kr_nvidia_here())
        return list_nvidia(options);
    if (arches.count == 0)
        strcpy(arches.names[arches.count++], "gfx90a"); // the software GPU's
    for (size_t i = 0; i < arches.count; i++) {
        const struct kr_catalogue *catalogue = kr_catalogue_find(arches.names[i]);
        if (!catalogue) {
            kr_say(options, KR_LEVEL_ERROR, "no counter catalogue for %s; there is one for %s",
                   options->arch ? options->arch : arches.names[i], kr_catalogue_arches());
            return KR_EXIT_USAGE;
        }
        if (i)
            putchar('\n');
        print(catalogue);
    }
    return 0;
}
