// SPDX-License-Identifier: MIT
// Owns isolation: nobody else touches an agent's captured memory while a window is open (invariant 3).
#include "engine/gate.h"

#include "engine/internal.h"

#include <assert.h>
#include <errno.h>

static _Thread_local struct kr_frame *innermost;
static _Thread_local uint16_t reading[KR_MAX_AGENTS]; // depth of this thread's kr_gate_enter, by agent

int kr_gate_init(struct kr_gate *gate)
{
    pthread_condattr_t attr;
    *gate = (struct kr_gate){0};
    if (pthread_condattr_init(&attr) != 0)
        return KREPLAY_NO_MEMORY;
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->readers_go, &attr);
    pthread_cond_init(&gate->writer_go, &attr);
    pthread_condattr_destroy(&attr);
    return 0;
}

void kr_gate_fini(struct kr_gate *gate)
{
    pthread_cond_destroy(&gate->writer_go);
    pthread_cond_destroy(&gate->readers_go);
    pthread_mutex_destroy(&gate->lock);
}

static void read_lock(struct kr_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    if (!gate->writer && gate->writers_waiting == 0) {
        gate->readers++;
    } else {
        // The window that ends (or gives up) counts us among the readers before it wakes us.
        uint64_t phase = gate->phase;
        gate->readers_waiting++;
        while (gate->phase == phase)
            pthread_cond_wait(&gate->readers_go, &gate->lock);
    }
    pthread_mutex_unlock(&gate->lock);
}

static void read_unlock(struct kr_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    if (--gate->readers == 0)
        pthread_cond_signal(&gate->writer_go);
    pthread_mutex_unlock(&gate->lock);
}

// With the lock held: ends a phase, lets in everybody who waited in it.
static void admit_readers(struct kr_gate *gate)
{
    gate->phase++;
    gate->readers += gate->readers_waiting;
    gate->readers_waiting = 0;
    pthread_cond_broadcast(&gate->readers_go);
}

static int write_lock(struct kr_gate *gate, uint64_t deadline_ns)
{
    struct timespec until = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
    int error = 0;

    pthread_mutex_lock(&gate->lock);
    gate->writers_waiting++;
    while ((gate->writer || gate->readers > 0) && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&gate->writer_go, &gate->lock, &until);
    gate->writers_waiting--;
    bool mine = !gate->writer && gate->readers == 0;
    if (mine)
        gate->writer = true;
    else if (!gate->writer && gate->writers_waiting == 0)
        admit_readers(gate); // they waited for nobody but us
    pthread_mutex_unlock(&gate->lock);
    return mine ? 0 : KREPLAY_TIMEOUT;
}

static void write_unlock(struct kr_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->writer = false;
    admit_readers(gate);
    if (gate->readers == 0)
        pthread_cond_signal(&gate->writer_go);
    pthread_mutex_unlock(&gate->lock);
}

int kr_gates_close(struct kr_engine *engine, struct kr_frame *frame, struct kr_run *run, uint64_t gates,
                   uint64_t timeout_ns)
{
    uint64_t now = kr_clock_ns();
    uint64_t deadline = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
    int status = 0;

    *frame = (struct kr_frame){innermost, engine, run, 0};
    for (uint32_t agent = 0; agent < KR_MAX_AGENTS && status == 0; agent++) {
        if (!(gates >> agent & 1))
            continue;
        // The broken mode of the tests keeps the marker but shuts nobody out.
        if (!kr_fault_on(engine, KR_FAULT_gate))
            status = write_lock(&engine->agents[agent].gate, deadline);
        if (status == 0)
            frame->gates |= UINT64_C(1) << agent;
    }
    innermost = frame;
    if (status != 0)
        kr_gates_open(frame);
    return status;
}

void kr_gates_open(struct kr_frame *frame)
{
    for (uint32_t agent = KR_MAX_AGENTS; agent-- > 0;) {
        if ((frame->gates >> agent & 1) && !kr_fault_on(frame->engine, KR_FAULT_gate))
            write_unlock(&frame->engine->agents[agent].gate);
    }
    frame->gates = 0;
    innermost = frame->up;
}

struct kr_frame *kr_gate_own_window(struct kr_engine *engine, uint32_t agent)
{
    for (struct kr_frame *frame = innermost; frame; frame = frame->up)
        if (frame->engine == engine && (frame->gates >> agent & 1))
            return frame;
    return NULL;
}

bool kr_gate_reading(uint64_t gates)
{
    for (uint32_t agent = 0; agent < KR_MAX_AGENTS; agent++)
        if ((gates >> agent & 1) && reading[agent] > 0)
            return true;
    return false;
}

// Unused where assertions are off.
__attribute__((unused)) static bool nothing_above(uint32_t agent)
{
    for (uint32_t other = agent + 1; other < KR_MAX_AGENTS; other++)
        if (reading[other] > 0)
            return false;
    return true;
}

void kr_gate_enter(struct kr_engine *engine, uint32_t agent)
{
    struct kr_frame *own = kr_gate_own_window(engine, agent);
    if (own) {
        kr_run_note_reentry(own->run);
        return;
    }
    assert(reading[agent] > 0 || nothing_above(agent));
    // A nested entry must not wait: the window it would wait for waits for the outer one.
    if (reading[agent]++ == 0)
        read_lock(&engine->agents[agent].gate);
}

bool kr_gate_inside(struct kr_engine *engine, uint32_t agent)
{
    return kr_gate_own_window(engine, agent) != NULL;
}

bool kr_gate_try_enter(struct kr_engine *engine, uint32_t agent)
{
    struct kr_gate *gate = &engine->agents[agent].gate;
    if (kr_gate_inside(engine, agent))
        return false;
    if (reading[agent] == 0) {
        pthread_mutex_lock(&gate->lock);
        bool open = !gate->writer && gate->writers_waiting == 0;
        if (open)
            gate->readers++;
        pthread_mutex_unlock(&gate->lock);
        if (!open)
            return false;
    }
    reading[agent]++;
    return true;
}

void kr_gate_leave(struct kr_engine *engine, uint32_t agent)
{
    if (kr_gate_own_window(engine, agent))
        return;
    if (--reading[agent] == 0)
        read_unlock(&engine->agents[agent].gate);
}
