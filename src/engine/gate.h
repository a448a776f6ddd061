// SPDX-License-Identifier: MIT
// The gate of one agent: ordinary work passes as a reader, a window closes it as a writer. Phase-fair: a
// waiting window stops new readers, and a window that ends lets in every reader that waited before the next
// window may start. So neither side starves.
//
// A thread knows what it holds: readers nest, and inside its own window it passes its gates freely.
#ifndef KR_GATE_H
#define KR_GATE_H

#include "engine/engine.h"

#include <pthread.h>

#define KR_MAX_AGENTS 64 // sets of agents are bits of a uint64_t

struct kr_gate {
    pthread_mutex_t lock;
    pthread_cond_t readers_go, writer_go;
    uint32_t readers, readers_waiting, writers_waiting;
    bool writer;
    uint64_t phase; // windows that ended
};

int kr_gate_init(struct kr_gate *gate);
void kr_gate_fini(struct kr_gate *gate);

struct kr_run;

// A window that the calling thread is inside of. Lives in its kr_run.
struct kr_frame {
    struct kr_frame *up;
    struct kr_engine *engine;
    struct kr_run *run;
    uint64_t gates; // agents whose gates the window holds as writer
};

// Writer lock on all of `gates`, in id order, and `frame` becomes the calling thread's innermost window.
// KREPLAY_TIMEOUT: nothing is held.
int kr_gates_close(struct kr_engine *engine, struct kr_frame *frame, struct kr_run *run, uint64_t gates,
                   uint64_t timeout_ns);
void kr_gates_open(struct kr_frame *frame);

// The calling thread's innermost window that holds the agent's gate, or NULL.
struct kr_frame *kr_gate_own_window(struct kr_engine *engine, uint32_t agent);
// Is the calling thread inside kr_gate_enter of one of the agents?
bool kr_gate_reading(uint64_t gates);

#endif
