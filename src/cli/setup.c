// SPDX-License-Identifier: MIT
// Everything that is checked before a program is started.
#include "cli/setup.h"

#include "cli/checks.h"
#include "cli/install.h"
#include "cli/nvidia.h"
#include "cli/say.h"
#include "counters/catalogue.h"
#include "counters/derive.h"
#include "counters/sets.h"
#include "select/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVER    "/dev/kfd"
#define FAIL(...) (snprintf(error, error_bytes, __VA_ARGS__), -1)

// The set is the last group.
static int parse_groups(const struct kr_options *options, struct kr_groups *groups, char *error,
                        size_t error_bytes)
{
    const char *pmc = options->pmc ? options->pmc : "", *set = kr_counter_set_names(options->metrics_set);
    char *text;
    if (asprintf(&text, "%s%s%s", pmc, set && *pmc ? ";" : "", set ? set : "") < 0)
        return FAIL("out of memory");
    int status = kr_groups_parse(text, groups, error, error_bytes) ? -1 : 0;
    free(text);
    return status;
}

static int check_soft_gpu(struct kr_setup *setup, char *error, size_t error_bytes)
{
    char *list = kr_install_library("softgpu/counters.tsv");
    setup->soft_folder = kr_install_library("softgpu");
    setup->driver = kr_install_library("softgpu/kfd");
    char *thunk = kr_install_library("softgpu/libhsakmt.so.1");
    int status = -1;
    if (!list || !setup->soft_folder || !thunk || !setup->driver)
        status = FAIL("out of memory");
    else if (kr_check_modelled(&setup->groups, list, error, error_bytes))
        status = -1;
    else if (access(thunk, R_OK) != 0)
        status = FAIL("the software GPU is not there: %s: %s", thunk, strerror(errno));
    else
        status = kr_check_rocr(error, error_bytes);
    free(thunk);
    free(list);
    return status;
}

static int find_library(struct kr_setup *setup, char *error, size_t error_bytes)
{
    setup->library = kr_install_library(setup->nvidia ? KR_NVIDIA_LIBRARY : "libkreplay.so");
    if (setup->library && access(setup->library, R_OK) == 0)
        return 0;
    return FAIL("kreplay's library is missing: %s", setup->library ? setup->library : "/proc is not there");
}

// Refused here rather than in the program, where it could only be said.
static int check_selection(const struct kr_options *options, char *error, size_t error_bytes)
{
    const struct kr_selection_rules rules = {.include = options->include,
                                             .exclude = options->exclude,
                                             .name = options->kernel_name,
                                             .iterations = options->iterations};
    struct kr_selection *selection;
    int status = kr_selection_create(&rules, NULL, &selection, error, error_bytes);
    kr_selection_destroy(selection);
    return status ? -1 : 0;
}

static int find_tool(struct kr_setup *setup, char *error, size_t error_bytes)
{
    const char *tool = setup->options->tool;
    setup->logs = setup->groups.count > 0 || (tool && !setup->options->tool_only);
    setup->loads = setup->logs || tool;
    if (!tool)
        return 0;
    setup->tool = realpath(tool, NULL);
    if (!setup->tool || access(setup->tool, R_OK) != 0)
        return FAIL("the tool cannot be read: %s: %s", tool, strerror(errno));
    return 0;
}

// Derived counters give way to their inputs, and groups that do not fit in one pass become several. Of several
// architectures the first with a catalogue decides: what does not fit another one is refused by the check.
static int plan_groups(struct kr_setup *setup, const struct kr_arches *arches, char *error,
                       size_t error_bytes)
{
    const struct kr_catalogue *catalogue = NULL;
    for (size_t i = 0; i < arches->count && !catalogue; i++)
        catalogue = kr_catalogue_find(arches->names[i]);
    const struct kr_options *options = setup->options;
    if (!catalogue)
        return 0;
    struct kr_measured measured;
    bool split = !options->strict_groups && options->compat != KR_COMPAT_ROCPROFV3;
    if (kr_measured_make(&setup->groups, catalogue, split, &measured, error, error_bytes))
        return -1;
    for (size_t g = 0; g < setup->groups.count; g++) {
        bool set =
            options->metrics_set != KR_SET_NONE && g + 1 == setup->groups.count; // nobody expects one pass
        if (measured.passes[g] > 1)
            kr_say(options, set ? KR_LEVEL_INFO : KR_LEVEL_WARNING,
                   "counter group %zu needs more registers than %s has: measured in %zu "
                   "passes",
                   g + 1, catalogue->arch, measured.passes[g]);
    }
    kr_groups_free(&setup->groups);
    setup->groups = measured.groups;
    setup->derived = measured.derived;
    setup->inputs = measured.inputs;
    free(measured.passes);
    return 0;
}

static int check_counters(struct kr_setup *setup, char *error, size_t error_bytes)
{
    struct kr_arches arches = {.names = {"gfx90a"}, .count = 1};
    if (!setup->options->soft_gpu)
        kr_read_arches(KR_TOPOLOGY, &arches);
    // A machine may have GPUs of both makes: then the names of the counters tell which are meant.
    setup->nvidia = !setup->options->soft_gpu && kr_nvidia_here() &&
                    (arches.count == 0 || kr_nvidia_named(&setup->groups));
    if (setup->nvidia) {
        if (find_library(setup, error, error_bytes))
            return -1;
        if (setup->groups.count == 0)
            return 0;
        if (setup->options->metrics_set != KR_SET_NONE)
            return FAIL("--metrics-set has counters of gfx90a only: name those of the NVIDIA GPU with --pmc");
        return kr_nvidia_check(setup->library, &setup->groups, error, error_bytes);
    }
    if (arches.count == 0)
        return FAIL("no AMD GPU on this machine (%s has none), nor an NVIDIA GPU (no " KR_NVIDIA_DRIVER
                    "); --soft-gpu runs the program without one",
                    KR_TOPOLOGY);
    if (plan_groups(setup, &arches, error, error_bytes))
        return -1;
    return kr_check_groups(&setup->groups, &arches, error, error_bytes);
}

// What rocprofv3 asks for in its kernel mode, in its order.
static int check_rocprofv3(const struct kr_options *options, const struct kr_groups *groups, char *error,
                           size_t error_bytes)
{
    if (!options->program)
        return FAIL("No application provided; usage: rocprofv3 [options] -- program [args]");
    if (options->replay_mode != KR_REPLAY_KERNEL)
        return 0;
    if (!options->beta)
        return FAIL(
            "--replay-mode kernel is a beta feature: acknowledge it with --kernel-replay-beta-enabled");
    if (groups->count == 0)
        return FAIL("--replay-mode kernel needs counters: give at least one --pmc");
    return 0;
}

static int check_kreplay(const struct kr_options *options, const struct kr_groups *groups, char *error,
                         size_t error_bytes)
{
    if (!options->program)
        return FAIL("no program given; usage: kreplay [options] -- program [args]");
    if (options->tool_only && (!options->tool || groups->count))
        return FAIL("--tool-only goes with --tool and without --pmc");
    if (options->tool)
        return 0;
    if (groups->count == 0)
        return FAIL(
            "%s replay needs counters: give at least one --pmc (kreplay list names them) or a --metrics-set",
            options->replay_mode == KR_REPLAY_KERNEL ? "kernel" : "application");
    return 0;
}

int kr_setup_make(const struct kr_options *options, struct kr_setup *setup, char *error, size_t error_bytes)
{
    *setup = (struct kr_setup){.options = options};
    if (parse_groups(options, &setup->groups, error, error_bytes))
        return -1;
    if (options->kernel_trace && setup->groups.count == 0)
        return FAIL("--kernel-trace needs counters beside it: give at least one --pmc");
    bool rocprofv3 = options->compat == KR_COMPAT_ROCPROFV3;
    if ((rocprofv3 ? check_rocprofv3 : check_kreplay)(options, &setup->groups, error, error_bytes))
        return -1;
    if (check_selection(options, error, error_bytes))
        return -1;
    if (kr_find_program(options->program[0], &setup->program, error, error_bytes))
        return -1;
    if (find_tool(setup, error, error_bytes))
        return -1;
    if (setup->loads && check_counters(setup, error, error_bytes))
        return -1;
    if (kr_groups_repeat(&setup->groups, options->repeat))
        return FAIL("out of memory");
    if (options->soft_gpu) {
        if (check_soft_gpu(setup, error, error_bytes))
            return -1;
    } else if (!(setup->driver = strdup(setup->nvidia ? KR_NVIDIA_DRIVER : DRIVER))) {
        return FAIL("out of memory");
    }
    return setup->library ? 0 : find_library(setup, error, error_bytes);
}

void kr_setup_free(struct kr_setup *setup)
{
    free(setup->derived);
    free(setup->inputs);
    free(setup->tool);
    free(setup->driver);
    free(setup->soft_folder);
    free(setup->library);
    free(setup->program);
    kr_groups_free(&setup->groups);
}
