// SPDX-License-Identifier: MIT
// The one struct through which the engine reaches a device. A back end (HSA, CUDA, fake) fills it; the engine
// knows no vendor. All functions return 0 or a negative kreplay_status, take the back end's `ctx` first, are
// called for one agent by one thread at a time (the gate's writer) unless said otherwise, and never block
// longer than their timeout.
#ifndef KR_BACKEND_H
#define KR_BACKEND_H

#include "kreplay/kreplay.h"

enum kr_op_kind { KR_OP_DISPATCH, KR_OP_BARRIER, KR_OP_FILL, KR_OP_COPY };

// What the tools' filters said of a dispatch.
enum kr_screen { KR_NOT_SCREENED, KR_CANDIDATE, KR_UNWANTED };

// One operation of a window, in submission order of its queue.
struct kr_op {
    enum kr_op_kind kind;
    kreplay_dispatch dispatch; // KR_OP_DISPATCH only
    kreplay_reason unsafe;     // set by the back end before the window: why it must not be repeated, or NONE
    void *backend;             // the back end's own: packet, program's signal, ...
    // Of kr_engine_screen, which the window calls for who has not.
    enum kr_screen screen;
    union kreplay_user_data tool_data[2]; // what each tool's filter wrote
};

// Where a buffer of kreplay's lives.
enum kr_place { KR_PLACE_DEVICE, KR_PLACE_HOST };

// Two independent ways to move bytes, so that a failed restore can be retried.
enum kr_path { KR_PATH_PRIMARY, KR_PATH_FALLBACK };

struct kr_copy {
    void *to;
    const void *from;
    size_t bytes;
};

// Two sides of memory that are to be compared; `changed` has one place for each block.
struct kr_comparison {
    const void *a, *b;
    size_t bytes;
    uint8_t *changed;
};

// What the back end measured for one operation in one pass. `values` has room for the group's value_capacity.
struct kr_op_result {
    uint64_t start_ns, end_ns;
    kreplay_value *values;
    size_t value_count;
};

// Back ends put this first in their group type.
struct kreplay_group {
    uint32_t agent_id;
    size_t value_capacity; // upper bound of values per operation
    // Executions of the window that one pass of the group takes, 0 = 1: each is restored, begun and ended
    // like a pass of its own, and the last one gives the values. `execution` is the one that pass_begin
    // begins, from 0; the engine writes it.
    uint32_t executions, execution;
};

// HSA: pass 0 is the program's own single execution. CUDA: the program launches it itself, unarmed, between
// kr_window_open and kr_window_close.
#define KR_BACKEND_LIVE_IS_PASS0 0x1u
// Compares on the host: shadows of small regions are better there, too.
#define KR_BACKEND_COMPARES_ON_HOST 0x2u

struct kr_window;

struct kr_backend {
    const char *name;
    unsigned flags;

    // Waits until what `queue` was given before the window is done; until the whole agent, copies included,
    // is idle. A back end that finds only here that the window must not be marks its operation unsafe and fails.
    int (*drain_queue)(void *ctx, uint32_t agent, void *queue, uint64_t timeout_ns);
    int (*drain_agent)(void *ctx, uint32_t agent, uint64_t timeout_ns);

    // Buffers of kreplay's own. `room` is an estimate of what can still be allocated.
    int (*alloc)(void *ctx, uint32_t agent, enum kr_place place, size_t bytes, void **out);
    void (*release)(void *ctx, uint32_t agent, enum kr_place place, void *buffer, size_t bytes);
    uint64_t (*room)(void *ctx, uint32_t agent, enum kr_place place);

    // Copies a list, complete on return. Source and target are captured memory or buffers of kreplay's.
    // KREPLAY_TIMEOUT: some of it may still be under way, so what it writes can be used for nothing else, and
    // drain_agent waits for it. Any other error: nothing is under way. compare means the same by it.
    int (*copy)(void *ctx, uint32_t agent, enum kr_path path, const struct kr_copy *list, size_t count);
    // Sets changed[i] = 1 for every block i of `block_bytes` (the last may be short) in which a and b differ,
    // else 0.
    int (*compare)(void *ctx, uint32_t agent, const void *a, const void *b, size_t bytes, size_t block_bytes,
                   uint8_t *changed);
    // May be NULL. The same for a whole list, where that is cheaper than one by one: then compare is not called
    // and may be NULL. After an error none of the list is compared.
    int (*compare_all)(void *ctx, uint32_t agent, const struct kr_comparison *list, size_t count,
                       size_t block_bytes);
    // May be NULL. Asked after the live execution and the comparison that follows it, when both sides of all captured
    // memory have been seen: NONE, or why the dispatch must not be repeated after all.
    kreplay_reason (*object)(void *ctx, uint32_t agent);

    // One pass: begin (arm `group`, NULL = nothing armed), submit each operation in order, end (wait for all,
    // read). `results` has op_count entries; `values` of each points to group->value_capacity places (NULL
    // without group). pass_begin that fails has done nothing. submit that fails has not started this
    // operation. pass_end: KREPLAY_TIMEOUT = work may still be running, see cancel and detach;
    // KREPLAY_UNAVAILABLE = all work is done, its values could not be read; any other error = all work has
    // ended, the device reported an error.
    int (*pass_begin)(void *ctx, uint32_t agent, kreplay_group *group, size_t op_count);
    int (*submit)(void *ctx, uint32_t agent, struct kr_op *op, size_t index);
    int (*pass_end)(void *ctx, uint32_t agent, uint64_t timeout_ns, struct kr_op_result *results);
    // Ends a pass that was begun and not ended, and stops what it still runs; afterwards nothing of it
    // touches memory.
    int (*cancel)(void *ctx, uint32_t agent);
    // The window is the back end's alone again: it lets what was submitted finish by itself, runs the
    // operations that were not submitted (when the queue's earlier work did not end in time: after that
    // work), each once, and completes the program's signals then, without blocking here. Called after the
    // records are written, with the gate still held; complete() is not called.
    void (*detach)(void *ctx, uint32_t agent, struct kr_window *window);
    // Back ends without KR_BACKEND_LIVE_IS_PASS0: waits for the program's own execution. NULL otherwise.
    int (*live_wait)(void *ctx, uint32_t agent, struct kr_window *window, uint64_t timeout_ns,
                     struct kr_op_result *results);

    // Completes the program's signals of every operation, once, with the times of the live execution, and
    // lets the queue go on. The last call of a window, after the records are written and the gate is
    // released.
    void (*complete)(void *ctx, uint32_t agent, struct kr_window *window, const struct kr_op_result *live);

    // Counters. Called from any thread.
    int (*counters)(void *ctx, uint32_t agent, int (*visit)(void *arg, const kreplay_counter *counter),
                    void *arg);
    int (*group_create)(void *ctx, uint32_t agent, const char *const *names, size_t count,
                        kreplay_group **group, char *error, size_t error_bytes);
    void (*group_destroy)(void *ctx, kreplay_group *group);
};

#endif
