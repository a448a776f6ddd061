// SPDX-License-Identifier: MIT
// A back end with no GPU: device memory is plain memory, a kernel is a C function over it, counters are what
// the function says it did. It can be told to fail at any call, records all calls in order, and checks that
// kreplay touches nothing but living memory. All functions may be called from any thread; what the engine has
// to serialise is left unlocked on purpose, so that a thread sanitizer sees it if the engine does not.
#ifndef KR_FAKE_H
#define KR_FAKE_H

#include "engine/engine.h"

// What a running kernel knows and reports.
struct kr_fake_exec {
    uint32_t agent;
    uint64_t execution; // number of executions of any kernel so far: lets a result change from run to run
    uint64_t reads, writes, work; // the kernel adds what it did
};
typedef void (*kr_fake_program)(void *arg, struct kr_fake_exec *exec);

// What kr_op.backend points to. Zeroed but for run and arg.
struct kr_fake_op {
    kr_fake_program run;
    void *arg;
    _Atomic unsigned executions;  // live and replayed
    _Atomic unsigned completions; // the program sees exactly one
    uint64_t start_ns, end_ns;    // that it was completed with
};

// Calls that can fail, and the word each leaves in the trace.
#define KR_FAKE_CALL_MAP(X)                                                                                  \
    X(DRAIN_QUEUE, "drain_queue")                                                                            \
    X(DRAIN_AGENT, "drain_agent")                                                                            \
    X(ALLOC, "alloc")                                                                                        \
    X(RELEASE, "release")                                                                                    \
    X(COPY_PRIMARY, "copy")                                                                                  \
    X(COPY_FALLBACK, "copy2")                                                                                \
    X(COMPARE, "compare")                                                                                    \
    X(PASS_BEGIN, "begin")                                                                                   \
    X(SUBMIT, "submit")                                                                                      \
    X(PASS_END, "end")                                                                                       \
    X(CANCEL, "cancel")                                                                                      \
    X(DETACH, "detach")                                                                                      \
    X(LIVE_WAIT, "live_wait")                                                                                \
    X(COMPLETE, "complete")

enum kr_fake_call {
#define X(name, word) KR_FAKE_##name,
    KR_FAKE_CALL_MAP(X)
#undef X
        KR_FAKE_CALL_COUNT
};

struct kr_fake;

struct kr_fake_options {
    unsigned flags;                    // of struct kr_backend
    uint32_t agents;                   // 0 = 1
    uint64_t device_bytes, host_bytes; // 0 = plenty
};

// Makes the back end, its engine and the engine's agents. NULL: no memory.
struct kr_fake *kr_fake_create(const struct kr_fake_options *options);
void kr_fake_destroy(struct kr_fake *fake); // destroys the engine first; NULL is fine
struct kr_engine *kr_fake_engine(struct kr_fake *fake);
unsigned kr_fake_flags(struct kr_fake *fake); // as created

// Device memory as a program sees it: allocation and free pass the gate and the inventory. kr_fake_adopt
// makes the caller's own memory a device allocation, so that tests can choose addresses. NULL or non-zero: no
// memory.
void *kr_fake_malloc(struct kr_fake *fake, uint32_t agent, size_t bytes);
void kr_fake_free(struct kr_fake *fake, uint32_t agent, void *base);
int kr_fake_adopt(struct kr_fake *fake, uint32_t agent, void *base, size_t bytes, enum kr_memory_kind kind);
void kr_fake_drop(struct kr_fake *fake, uint32_t agent, void *base);

// From the `nth` next call on (1 = the next) `count` calls return `status`. A failing copy has written half
// of its bytes. PASS_END with KREPLAY_TIMEOUT: kr_fake_stick says how many operations ran before.
void kr_fake_fail(struct kr_fake *fake, enum kr_fake_call call, unsigned nth, unsigned count, int status);
void kr_fake_stick(struct kr_fake *fake, size_t operations);

// Without KR_BACKEND_LIVE_IS_PASS0: the program's own launch, between kr_window_open and kr_window_close. An
// engine that gets a time-out from live_wait leaves it to kr_fake_settle.
void kr_fake_launch(struct kr_fake *fake, struct kr_window *window);
// Runs what detached windows left over, in order, and completes them.
void kr_fake_settle(struct kr_fake *fake);
// The same for one window, if it was detached; others may go on meanwhile. Called inside the agent's gate.
void kr_fake_settle_window(struct kr_fake *fake, const struct kr_window *window);

// Trace: words separated by blanks. The text is the caller's to free.
void kr_fake_trace_start(struct kr_fake *fake); // forgets what was recorded
void kr_fake_trace(struct kr_fake *fake, const char *word);
char *kr_fake_trace_text(struct kr_fake *fake);

unsigned kr_fake_calls(struct kr_fake *fake, enum kr_fake_call call); // since creation
unsigned kr_fake_strays(struct kr_fake *fake); // ranges outside living memory handed to copy or compare
uint64_t kr_fake_longest_wait_ns(struct kr_fake *fake);                 // largest time-out given to any call
uint64_t kr_fake_used_bytes(struct kr_fake *fake, enum kr_place place); // by program and kreplay together

#endif
