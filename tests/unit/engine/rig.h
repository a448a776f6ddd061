// SPDX-License-Identifier: MIT
// What the engine's tests share: a fake GPU with a tool whose wishes are plain fields, copies of all records,
// and a few kernels. One rig at a time.
#ifndef RIG_H
#define RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake/fake.h"

#define RIG_PASSES 64
#define RIG_VALUES 8
#define BLOCK      4096 // the engine's default grain

struct rig_record {
    kreplay_outcome outcome;
    uint64_t dispatch_id, window_id, start_ns, end_ns;
    size_t pass_count;
    kreplay_pass_record passes[RIG_PASSES]; // values point into `values`
    kreplay_value values[RIG_PASSES][RIG_VALUES];
    unsigned completions; // that the program had seen when the record came
};

struct rig {
    struct kr_fake *fake;
    struct kr_engine *engine;
    // What the tool wants. Defaults: every dispatch, 3 passes, groups armed in turn.
    bool want, arm;
    uint32_t pass_count;
    kreplay_continue_fn go_on;
    kreplay_group *single;    // config.group
    kreplay_group *groups[2]; // RUNS+READS, WRITES+WORK
    void (*on_config)(kreplay_phase phase, kreplay_config *config);
    void (*on_pass)(kreplay_phase phase, kreplay_pass *pass);
    void (*on_record)(const kreplay_dispatch_record *record);
    // What the tool was told.
    struct rig_record *records;
    size_t record_count, record_capacity;
    unsigned enters, exits, pass_enters, pass_exits;
    struct kr_fake_op *watched; // its completions go into records
};
extern struct rig rig;

// `flags` of the back end; environment is read here. rig_stop checks that nothing stray was touched.
void rig_start(unsigned flags);
void rig_start_with(const struct kr_fake_options *options);
void rig_stop(void);
void rig_end(void); // without the checks

// A window of `count` operations of which `mine` is the back end's side; kernel ids are 1, 2, ... unless
// changed.
struct rig_window {
    struct kr_window window;
    struct kr_op ops[4];
    struct kr_fake_op mine[4];
};
void rig_add(struct rig_window *w, kr_fake_program run, void *arg);
// Runs it the way of the back end (kr_window_run, or open, launch, close).
void rig_run(struct rig_window *w);
struct rig_record *rig_last(void);

// One dispatch from start to end; returns its record (the last).
struct rig_record *rig_dispatch(kr_fake_program run, void *arg);
// Each operation ran as far as the program sees exactly once.
void rig_expect_done_once(const struct rig_window *w);

// Trace since the last kr_fake_trace_start, compared.
void rig_expect_trace(const char *words);

// A buffer of device memory that kernels work on.
struct buffer {
    uint8_t *at;
    size_t bytes;
};
struct buffer rig_buffer(uint32_t agent, size_t bytes);
void add_one(void *arg, struct kr_fake_exec *exec);     // every byte + 1, in place
void touch_first(void *arg, struct kr_fake_exec *exec); // first byte + 1
void wander(void *arg, struct kr_fake_exec *exec);      // writes a block that changes with every execution
bool buffer_is(const struct buffer *buffer, uint8_t value);

#endif
