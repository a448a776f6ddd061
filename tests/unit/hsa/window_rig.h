// SPDX-License-Identifier: MIT
// What the tests of whole windows share: kernels of the fake runtime, a tool that asks for two passes of everything and
// remembers what it is told, and the program's calls. The back end is one per process, so each test is run in a process
// of its own: its name is the argument.
#ifndef WINDOW_RIG_H
#define WINDOW_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_runtime.h"
#include "hsa/copy.h"
#include "hsa/life.h"

enum { ADD_ONE, SPIN, PRINTS, ONCE, FAULT, FAULT_LATER, KERNELS };

struct arguments {
    int *data;
    uint64_t more;
};

extern int *module_data;     // 96 bytes, writable module memory
extern _Atomic bool spin_on; // while set, SPIN does not end

struct window_tool {
    kreplay_group *groups[2];
    char group_error[256];
    unsigned agents, kernels, finished;
    struct seen {
        uint64_t id;
        kreplay_outcome outcome;
        uint64_t start_ns, end_ns, first_value, second_value;
        size_t values;
        char kernel[32];
    } seen[6000];
    _Atomic unsigned count;
};
extern struct window_tool tool;
extern const char
    *unwanted; // the names of kernels that the tool's filter refuses; NULL, as at first: it has no filter

extern struct kr_hsa_api program; // what the program calls
extern const hsa_signal_t none;

void make_groups(void *arg, const kreplay_agent *agent); // the tool's agent callback
void start_with(unsigned gpus); // opens the back end under a runtime with that many GPUs
void start(void);               // with one

hsa_queue_t *queue_of_type(uint32_t size, hsa_queue_type32_t type);
hsa_queue_t *queue(uint32_t size);
void *device(size_t bytes); // zeroed memory of the GPU
void dispatch(hsa_queue_t *q, unsigned kernel, struct arguments *arguments, hsa_signal_t signal);
void barrier(hsa_queue_t *q, hsa_signal_t dependency, hsa_signal_t completion);
void until(const _Atomic unsigned *count, unsigned at_least); // waits; fails after 20 s

int window_main(int argc, char **argv, const char *group, const struct CMUnitTest *tests, size_t count);

#endif
