// SPDX-License-Identifier: MIT
// Every number that limits kreplay: how long it waits, how much it takes. One table gives field, default,
// what one unit of the environment variable is worth, the variable, and a text for a person. Nothing else in
// the engine is a limit.
#ifndef KR_BOUNDS_H
#define KR_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KR_NS_PER_MS UINT64_C(1000000)

// X(field, default in units of the variable, worth of one unit, variable, text)
#define KR_BOUND_MAP(X)                                                                                      \
    X(gate_ns, 60000, KR_NS_PER_MS, "KREPLAY_GATE_MS", "wait for other threads' submissions, milliseconds")  \
    X(queue_drain_ns, 60000, KR_NS_PER_MS, "KREPLAY_QUEUE_DRAIN_MS",                                         \
      "wait for earlier work of the same queue, milliseconds")                                               \
    X(agent_drain_ns, 60000, KR_NS_PER_MS, "KREPLAY_AGENT_DRAIN_MS",                                         \
      "wait for all other work of the GPU, milliseconds")                                                    \
    X(live_ns, 300000, KR_NS_PER_MS, "KREPLAY_LIVE_MS",                                                      \
      "wait for the program's own execution, milliseconds")                                                  \
    X(pass_multiple, 20, 1, "KREPLAY_PASS_MULTIPLE", "a pass may take this many times the live execution")   \
    X(pass_floor_ns, 10000, KR_NS_PER_MS, "KREPLAY_PASS_FLOOR_MS", "but always this long, milliseconds")     \
    X(copy_ns, 60000, KR_NS_PER_MS, "KREPLAY_COPY_MS",                                                       \
      "wait for a list of copies of kreplay's own, milliseconds")                                            \
    X(exit_ns, 10000, KR_NS_PER_MS, "KREPLAY_EXIT_MS",                                                       \
      "wait at the program's end for the windows under way, milliseconds")                                   \
    X(exit_stall_ns, 1000, KR_NS_PER_MS, "KREPLAY_EXIT_STALL_MS",                                            \
      "at the program's end: what was not reached for this long is recorded as it is, milliseconds")         \
    X(open_passes, 10000, 1, "KREPLAY_OPEN_PASSES",                                                          \
      "most passes of a dispatch that was asked for without end")                                            \
    X(budget_bytes, 0, 1, "KREPLAY_BUDGET_BYTES",                                                            \
      "most bytes of a snapshot; 0 = whatever the device holds, plus half of the host's available memory")   \
    X(block_bytes, 4096, 1, "KREPLAY_BLOCK_BYTES", "grain in which changes are found and put back")          \
    X(decline_untracked, 1, 1, "KREPLAY_DECLINE_UNTRACKED",                                                  \
      "1 = do not replay while device memory exists that cannot be put back")                                \
    X(decline_hostcall, 1, 1, "KREPLAY_DECLINE_HOSTCALL",                                                    \
      "1 = do not replay kernels that talk to the host: device printf, malloc, host calls")                  \
    X(decline_cooperative, 1, 1, "KREPLAY_DECLINE_COOPERATIVE",                                              \
      "1 = do not replay what is in a queue for cooperative launches; 0 = run it in an ordinary one")        \
    X(pass_unwanted, 1, 1, "KREPLAY_PASS_UNWANTED",                                                          \
      "1 = a dispatch that is filtered out passes on at once, without times; 0 = it waits for its turn and " \
      "has times")                                                                                           \
    X(host_copies, 1, 1, "KREPLAY_HOST_COPIES",                                                              \
      "may the host move and compare the GPU's memory itself: 0 = no, 1 = where it is quicker, 2 = where "   \
      "it can")

struct kr_bounds {
#define X(field, value, unit, variable, text) uint64_t field;
    KR_BOUND_MAP(X)
#undef X
};

struct kr_bound_info {
    const char *name, *variable, *text;
    uint64_t value, unit; // default = value * unit
    size_t offset;        // of the field in struct kr_bounds
};
extern const struct kr_bound_info kr_bound_table[];
extern const size_t kr_bound_count;

// Defaults, then the environment. A value that is no number is reported through `complain` and the default
// stays.
void kr_bounds_read(struct kr_bounds *bounds,
                    void (*complain)(void *arg, const char *variable, const char *value), void *arg);
// Half of the host's MemAvailable in bytes; UINT64_MAX when it cannot be read.
uint64_t kr_bounds_host_half(void);

#endif
