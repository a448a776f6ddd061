// SPDX-License-Identifier: MIT
// Owns the fake device: the functions that the engine calls.
#include "fake/device.h"

#include "engine/clock.h"

#include <stdlib.h>
#include <string.h>

static int drain_queue(void *ctx, uint32_t agent, void *queue, uint64_t timeout_ns)
{
    (void)agent;
    (void)queue;
    fake_note_wait(ctx, timeout_ns);
    return fake_enter(ctx, KR_FAKE_DRAIN_QUEUE);
}

static int allocate(void *ctx, uint32_t agent, enum kr_place place, size_t bytes, void **out)
{
    (void)agent;
    int status = fake_enter(ctx, KR_FAKE_ALLOC);
    if (status != 0)
        return status;
    *out = malloc(bytes);
    if (!*out)
        return KREPLAY_NO_MEMORY;
    memset(*out, 0xa5, bytes); // never taken for content
    status = fake_block_add(ctx, *out, bytes, place, false);
    if (status != 0)
        free(*out);
    return status;
}

static void release(void *ctx, uint32_t agent, enum kr_place place, void *buffer, size_t bytes)
{
    (void)agent;
    (void)place;
    (void)bytes;
    fake_enter(ctx, KR_FAKE_RELEASE);
    fake_block_remove(ctx, buffer);
    free(buffer);
}

static uint64_t room(void *ctx, uint32_t agent, enum kr_place place)
{
    struct kr_fake *fake = ctx;
    (void)agent;
    pthread_mutex_lock(&fake->lock);
    uint64_t left = fake->limit[place] - fake->used[place];
    pthread_mutex_unlock(&fake->lock);
    return left;
}

static int copy(void *ctx, uint32_t agent, enum kr_path path, const struct kr_copy *list, size_t count)
{
    (void)agent;
    int status = fake_enter(ctx, path == KR_PATH_PRIMARY ? KR_FAKE_COPY_PRIMARY : KR_FAKE_COPY_FALLBACK);
    for (size_t i = 0; i < count; i++) {
        // A failure in the middle: what is before it has been written, in part.
        size_t bytes = status != 0 ? list[i].bytes / 2 : list[i].bytes;
        if (fake_lives(ctx, list[i].to, list[i].bytes) && fake_lives(ctx, list[i].from, list[i].bytes))
            memcpy(list[i].to, list[i].from, bytes);
    }
    return status;
}

static int compare(void *ctx, uint32_t agent, const void *a, const void *b, size_t bytes, size_t block_bytes,
                   uint8_t *changed)
{
    (void)agent;
    int status = fake_enter(ctx, KR_FAKE_COMPARE);
    if (status != 0)
        return status;
    if (!fake_lives(ctx, a, bytes) || !fake_lives(ctx, b, bytes))
        return KREPLAY_DEVICE;
    for (size_t at = 0; at < bytes; at += block_bytes) {
        size_t length = bytes - at < block_bytes ? bytes - at : block_bytes;
        *changed++ = memcmp((const char *)a + at, (const char *)b + at, length) != 0;
    }
    return 0;
}

static int pass_begin(void *ctx, uint32_t agent, kreplay_group *group, size_t op_count)
{
    struct kr_fake *fake = ctx;
    struct fake_pass *pass = &fake->passes[agent];
    int status = fake_enter(fake, KR_FAKE_PASS_BEGIN);
    if (status != 0)
        return status;
    if (op_count > pass->capacity) {
        struct kr_op **ops = realloc(pass->ops, op_count * sizeof *ops);
        if (!ops)
            return KREPLAY_NO_MEMORY;
        pass->ops = ops;
        pass->capacity = op_count;
    }
    pass->submitted = pass->ran = 0;
    pass->group = group;
    pass->begun = true;
    return 0;
}

static int submit(void *ctx, uint32_t agent, struct kr_op *op, size_t index)
{
    struct kr_fake *fake = ctx;
    int status = fake_enter(fake, KR_FAKE_SUBMIT);
    if (status != 0)
        return status;
    fake->passes[agent].ops[index] = op;
    fake->passes[agent].submitted = index + 1;
    return 0;
}

void fake_run_op(struct kr_fake *fake, uint32_t agent, struct kr_op *op, kreplay_group *group,
                 struct kr_op_result *result)
{
    struct kr_fake_op *mine = op->backend;
    struct kr_fake_exec exec = {.agent = agent, .execution = ++fake->executions};
    uint64_t start = kr_clock_ns();

    mine->executions++;
    mine->run(mine->arg, &exec);
    if (!result)
        return;
    result->start_ns = start;
    result->end_ns = kr_clock_ns();
    if (group)
        result->value_count = fake_group_read(group, &exec, result->values);
}

// Waiting to the end also ends a stuck execution that could not be cancelled: it runs on to its end.
static int drain_agent(void *ctx, uint32_t agent, uint64_t timeout_ns)
{
    struct kr_fake *fake = ctx;
    struct fake_pass *pass = &fake->passes[agent];
    fake_note_wait(fake, timeout_ns);
    int status = fake_enter(fake, KR_FAKE_DRAIN_AGENT);
    if (status != 0)
        return status;
    for (; pass->begun && pass->ran < pass->submitted; pass->ran++)
        fake_run_op(fake, agent, pass->ops[pass->ran], NULL, NULL);
    pass->begun = false;
    return 0;
}

static int pass_end(void *ctx, uint32_t agent, uint64_t timeout_ns, struct kr_op_result *results)
{
    struct kr_fake *fake = ctx;
    struct fake_pass *pass = &fake->passes[agent];
    fake_note_wait(fake, timeout_ns);
    int status = fake_enter(fake, KR_FAKE_PASS_END);
    size_t stop = pass->submitted;
    if (status == KREPLAY_TIMEOUT && fake->stick < stop)
        stop = fake->stick;
    for (; pass->ran < stop; pass->ran++)
        fake_run_op(fake, agent, pass->ops[pass->ran], status == 0 ? pass->group : NULL, &results[pass->ran]);
    pass->begun = status == KREPLAY_TIMEOUT;
    return status;
}

static int cancel(void *ctx, uint32_t agent)
{
    struct kr_fake *fake = ctx;
    int status = fake_enter(fake, KR_FAKE_CANCEL);
    if (status == 0)
        fake->passes[agent].begun = false;
    return status;
}

static void detach(void *ctx, uint32_t agent, struct kr_window *window)
{
    struct kr_fake *fake = ctx;
    struct fake_pass *pass = &fake->passes[agent];
    fake_enter(fake, KR_FAKE_DETACH);
    pthread_mutex_lock(&fake->lock);
    if (fake->late_count == fake->late_capacity) {
        fake->late_capacity = fake->late_capacity * 2 + 4;
        fake->late = realloc(fake->late, fake->late_capacity * sizeof *fake->late);
        if (!fake->late)
            abort();
    }
    // Where the program launches, all of it has run; else what the unfinished pass did not get to is still to
    // run.
    size_t ran =
        fake->backend.flags & KR_BACKEND_LIVE_IS_PASS0 ? (pass->begun ? pass->ran : 0) : window->op_count;
    fake->late[fake->late_count++] = (struct fake_late){window, ran};
    pass->begun = false;
    pthread_mutex_unlock(&fake->lock);
}

static int live_wait(void *ctx, uint32_t agent, struct kr_window *window, uint64_t timeout_ns,
                     struct kr_op_result *results)
{
    (void)agent;
    fake_note_wait(ctx, timeout_ns);
    int status = fake_enter(ctx, KR_FAKE_LIVE_WAIT);
    for (size_t i = 0; i < window->op_count; i++)
        results[i].start_ns = results[i].end_ns = kr_clock_ns();
    return status;
}

static void complete(void *ctx, uint32_t agent, struct kr_window *window, const struct kr_op_result *live)
{
    (void)agent;
    fake_enter(ctx, KR_FAKE_COMPLETE);
    for (size_t i = 0; i < window->op_count; i++) {
        struct kr_fake_op *op = window->ops[i].backend;
        op->start_ns = live[i].start_ns;
        op->end_ns = live[i].end_ns;
        op->completions++;
    }
}

const struct kr_backend fake_backend = {
    .name = "fake",
    .drain_queue = drain_queue,
    .drain_agent = drain_agent,
    .alloc = allocate,
    .release = release,
    .room = room,
    .copy = copy,
    .compare = compare,
    .pass_begin = pass_begin,
    .submit = submit,
    .pass_end = pass_end,
    .cancel = cancel,
    .detach = detach,
    .live_wait = live_wait,
    .complete = complete,
    .counters = fake_counters,
    .group_create = fake_group_create,
    .group_destroy = fake_group_destroy,
};
