// SPDX-License-Identifier: MIT
// Owns the state of one window, its memory, and what can be said about its operations at any step.
#include "engine/internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 8192

struct kr_chunk {
    struct kr_chunk *next;
    size_t used, bytes;
    _Alignas(16) char data[];
};

void *kr_run_alloc(struct kr_run *run, size_t bytes)
{
    struct kr_chunk *chunk = run->chunks;
    bytes = (bytes + 15) / 16 * 16;
    if (!chunk || bytes > chunk->bytes - chunk->used) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        *chunk = (struct kr_chunk){run->chunks, 0, room};
        run->chunks = chunk;
    }
    void *out = chunk->data + chunk->used;
    chunk->used += bytes;
    return memset(out, 0, bytes);
}

// Keeps one chunk for the next window.
static void empty_arena(struct kr_run *run)
{
    while (run->chunks && run->chunks->next) {
        struct kr_chunk *chunk = run->chunks;
        run->chunks = chunk->next;
        free(chunk);
    }
    if (run->chunks)
        run->chunks->used = 0;
}

void kr_run_forget(struct kr_run *run)
{
    if (!run)
        return;
    empty_arena(run);
    free(run->chunks);
    free(run);
}

struct kr_run *kr_run_make(struct kr_engine *engine, struct kr_window *window)
{
    struct kr_agent_state *agent = &engine->agents[window->agent];
    struct kr_run *run = atomic_exchange(&agent->spare, NULL);
    size_t count = window->op_count;

    if (!run)
        run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    *run = (struct kr_run){.engine = engine, .agent = agent, .window = window, .chunks = run->chunks};
    run->outcome.deterministic = true;
    run->op_count = count;
    run->ops = kr_run_alloc(run, count * sizeof *run->ops);
    run->live = kr_run_alloc(run, count * sizeof *run->live);
    run->results = kr_run_alloc(run, count * sizeof *run->results);
    if (!run->ops || !run->live || !run->results) {
        kr_run_forget(run);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        run->ops[i].op = &window->ops[i];
        run->ops[i].kind = KREPLAY_FILTERED;
    }
    return run;
}

void kr_run_done(struct kr_run *run)
{
    empty_arena(run);
    kr_run_forget(atomic_exchange(&run->agent->spare, run));
}

bool kr_run_any_measured(const struct kr_run *run)
{
    for (size_t i = 0; i < run->op_count; i++)
        if (run->ops[i].measured)
            return true;
    return false;
}

void kr_run_stop(struct kr_run *run, kreplay_reason reason)
{
    for (size_t i = 0; i < run->op_count; i++) {
        struct kr_op_run *op = &run->ops[i];
        if (!op->measured)
            continue;
        op->measured = false;
        op->kind = KREPLAY_DECLINED;
        op->reason = reason;
    }
}

void kr_run_note(struct kr_run *run, kreplay_reason reason)
{
    for (size_t i = 0; i < run->op_count; i++)
        if (run->ops[i].reason == KREPLAY_REASON_NONE)
            run->ops[i].reason = reason;
}

void kr_run_decline_all(struct kr_run *run, kreplay_reason reason)
{
    for (size_t i = 0; i < run->op_count; i++) {
        run->ops[i].kind = KREPLAY_DECLINED;
        run->ops[i].reason = reason;
    }
}

void kr_run_note_reentry(struct kr_run *run)
{
    run->outcome.reentrant = true;
}

void kr_run_interrupt(struct kr_run *run)
{
    run->outcome.reentrant = true;
    run->cut = true;
    kr_run_settle(run);
}
