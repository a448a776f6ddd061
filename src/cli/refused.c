// SPDX-License-Identifier: MIT
// The table of what is refused.
#include "cli/refused.h"

#include <stdbool.h>
#include <string.h>

static const char thread_trace[] =
    "thread traces are not collected: a trace describes one execution, and replay has one for each pass";
static const char sampling[] =
    "program counters are not sampled: samples of all passes would fall into one heap, and beside counters "
    "sampling hangs MI200 and MI300";
static const char streaming[] = "counters are not streamed over time (SPM): kreplay has one value for each "
                                "dispatch and counter, see --pmc";
static const char tracing[] = "calls and copies are not traced: kreplay measures kernels, see --pmc; a trace "
                              "takes a run of its own with another tool";
static const char attaching[] = "running programs are not attached to: kreplay has to see all memory that "
                                "the program allocates, from its "
                                "start";
static const char periods[] =
    "there are no periods of time: choose kernels and launches instead, with --kernel-include-regex and "
    "--kernel-iteration-range";

static const struct refusal {
    const char *name;   // or how names of this kind begin or end
    const char *reason; // never NULL
    enum { WHOLE, BEGIN, END } part;
    char letter; // 0 = none
} refusals[] = {
    {"advanced-thread-trace", thread_trace, WHOLE, 0},
    {"att", thread_trace, WHOLE, 0},
    {"att-", thread_trace, BEGIN, 0},
    {"pc-sampling-", sampling, BEGIN, 0},
    {"spm", streaming, WHOLE, 0},
    {"spm-", streaming, BEGIN, 0},
    {"runtime-trace", tracing, WHOLE, 'r'},
    {"sys-trace", tracing, WHOLE, 's'},
    {"-trace", tracing, END, 0},
    {"pid", attaching, WHOLE, 'p'},
    {"attach", attaching, WHOLE, 0},
    {"attach-", attaching, BEGIN, 0},
    {"collection-period", periods, WHOLE, 'P'},
    {"collection-period-unit", periods, WHOLE, 0},
};

const char *kr_refused_option(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *refusal = &refusals[i];
        size_t known = strlen(refusal->name);
        bool long_enough = refusal->part == WHOLE ? length == known : length >= known;
        const char *at = refusal->part == END && long_enough ? name + length - known : name;
        if (long_enough && strncmp(at, refusal->name, known) == 0)
            return refusal->reason;
    }
    return NULL;
}

const char *kr_refused_letter(char letter)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        if (refusals[i].letter && refusals[i].letter == letter)
            return refusals[i].reason;
    return NULL;
}
