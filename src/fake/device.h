// SPDX-License-Identifier: MIT
// The fake device as its files share it.
#ifndef KR_FAKE_DEVICE_H
#define KR_FAKE_DEVICE_H

#include "fake/fake.h"

#include <pthread.h>

#define FAKE_MAX_AGENTS 8
#define FAKE_SLOTS      2 // counters that can be armed together

struct fake_block { // living memory: the program's or kreplay's
    char *base;
    size_t bytes;
    enum kr_place place;
    bool own; // freed with the fake
};

struct fake_failure {
    unsigned skip, count;
    int status;
};

struct fake_pass { // the execution that is going on; one thread at a time by the engine's word
    struct kr_op **ops;
    size_t capacity, submitted, ran;
    kreplay_group *group;
    bool begun;
};

struct fake_late { // a detached window
    struct kr_window *window;
    size_t ran; // operations that need not run any more
};

struct kr_fake {
    struct kr_backend backend;
    struct kr_engine *engine;
    uint32_t agent_count;
    struct fake_pass passes[FAKE_MAX_AGENTS];
    _Atomic uint64_t executions;
    _Atomic size_t stick;

    pthread_mutex_t lock; // of all below
    struct fake_block *blocks;
    size_t block_count, block_capacity;
    uint64_t limit[2], used[2]; // by enum kr_place
    struct fake_failure failures[KR_FAKE_CALL_COUNT];
    unsigned calls[KR_FAKE_CALL_COUNT];
    struct fake_late *late;
    size_t late_count, late_capacity;
    char *trace;
    size_t trace_bytes, trace_capacity;
    bool tracing;
    unsigned strays;
    uint64_t longest_wait_ns;
};

// Counts and traces the call; returns the status that it has to fail with, or 0.
int fake_enter(struct kr_fake *fake, enum kr_fake_call call);
void fake_note_wait(struct kr_fake *fake, uint64_t timeout_ns);
// Is the range inside living memory? Counts a stray if not.
bool fake_lives(struct kr_fake *fake, const void *base, size_t bytes);
int fake_block_add(struct kr_fake *fake, void *base, size_t bytes, enum kr_place place, bool own);
void fake_block_remove(struct kr_fake *fake, void *base);

void fake_run_op(struct kr_fake *fake, uint32_t agent, struct kr_op *op, kreplay_group *group,
                 struct kr_op_result *result);

extern const struct kr_backend fake_backend;

// counters.c
int fake_counters(void *ctx, uint32_t agent, int (*visit)(void *arg, const kreplay_counter *counter),
                  void *arg);
int fake_group_create(void *ctx, uint32_t agent, const char *const *names, size_t count,
                      kreplay_group **group, char *error, size_t error_bytes);
void fake_group_destroy(void *ctx, kreplay_group *group);
size_t fake_group_read(const kreplay_group *group, const struct kr_fake_exec *exec, kreplay_value *values);

#endif
