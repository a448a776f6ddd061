// SPDX-License-Identifier: MIT
// Owns the fake's life, its memory table, its failures on demand and its trace.
#include "fake/device.h"

#include <stdlib.h>
#include <string.h>

static const char *const call_words[] = {
#define X(name, word) word,
    KR_FAKE_CALL_MAP(X)
#undef X
};

static int add_agents(struct kr_fake *fake)
{
    for (uint32_t i = 0; i < fake->agent_count; i++) {
        kreplay_agent info = {
            .size = sizeof info,
            .agent_id = i,
            .node_id = i + 1,
            .name = "fake",
            .product = "fake GPU",
            .vendor = "kreplay",
            .memory_bytes = fake->limit[KR_PLACE_DEVICE],
        };
        int status = kr_engine_add_agent(fake->engine, &info);
        if (status != 0)
            return status;
    }
    return 0;
}

struct kr_fake *kr_fake_create(const struct kr_fake_options *options)
{
    struct kr_fake *fake = calloc(1, sizeof *fake);
    if (!fake)
        return NULL;
    fake->backend = fake_backend;
    fake->backend.flags = options->flags;
    fake->agent_count = options->agents ? options->agents : 1;
    fake->limit[KR_PLACE_DEVICE] = options->device_bytes ? options->device_bytes : UINT64_C(1) << 40;
    fake->limit[KR_PLACE_HOST] = options->host_bytes ? options->host_bytes : UINT64_C(1) << 40;
    pthread_mutex_init(&fake->lock, NULL);
    if (kr_engine_create(&fake->backend, fake, &fake->engine) != 0 || add_agents(fake) != 0) {
        kr_fake_destroy(fake);
        return NULL;
    }
    return fake;
}

void kr_fake_destroy(struct kr_fake *fake)
{
    if (!fake)
        return;
    kr_engine_destroy(fake->engine);
    for (size_t i = 0; i < fake->block_count; i++)
        if (fake->blocks[i].own)
            free(fake->blocks[i].base);
    for (size_t i = 0; i < FAKE_MAX_AGENTS; i++)
        free(fake->passes[i].ops);
    free(fake->blocks);
    free(fake->late);
    free(fake->trace);
    pthread_mutex_destroy(&fake->lock);
    free(fake);
}

struct kr_engine *kr_fake_engine(struct kr_fake *fake)
{
    return fake->engine;
}

static void append(struct kr_fake *fake, const char *word)
{
    size_t length = strlen(word), need = fake->trace_bytes + length + 2;
    if (!fake->tracing)
        return;
    if (need > fake->trace_capacity) {
        char *larger = realloc(fake->trace, need * 2);
        if (!larger)
            abort();
        fake->trace = larger;
        fake->trace_capacity = need * 2;
    }
    if (fake->trace_bytes > 0)
        fake->trace[fake->trace_bytes++] = ' ';
    memcpy(fake->trace + fake->trace_bytes, word, length);
    fake->trace_bytes += length;
}

void kr_fake_trace(struct kr_fake *fake, const char *word)
{
    pthread_mutex_lock(&fake->lock);
    append(fake, word);
    pthread_mutex_unlock(&fake->lock);
}

void kr_fake_trace_start(struct kr_fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    fake->tracing = true;
    fake->trace_bytes = 0;
    pthread_mutex_unlock(&fake->lock);
}

char *kr_fake_trace_text(struct kr_fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    char *text = strndup(fake->trace ? fake->trace : "", fake->trace_bytes);
    pthread_mutex_unlock(&fake->lock);
    return text;
}

int fake_enter(struct kr_fake *fake, enum kr_fake_call call)
{
    struct fake_failure *failure = &fake->failures[call];
    int status = 0;
    pthread_mutex_lock(&fake->lock);
    fake->calls[call]++;
    append(fake, call_words[call]);
    if (failure->count > 0 && failure->skip > 0) {
        failure->skip--;
    } else if (failure->count > 0) {
        failure->count--;
        status = failure->status;
    }
    pthread_mutex_unlock(&fake->lock);
    return status;
}

void kr_fake_fail(struct kr_fake *fake, enum kr_fake_call call, unsigned nth, unsigned count, int status)
{
    pthread_mutex_lock(&fake->lock);
    fake->failures[call] = (struct fake_failure){nth - 1, count, status};
    pthread_mutex_unlock(&fake->lock);
}

void kr_fake_stick(struct kr_fake *fake, size_t operations)
{
    fake->stick = operations;
}

void fake_note_wait(struct kr_fake *fake, uint64_t timeout_ns)
{
    pthread_mutex_lock(&fake->lock);
    if (timeout_ns > fake->longest_wait_ns)
        fake->longest_wait_ns = timeout_ns;
    pthread_mutex_unlock(&fake->lock);
}

bool fake_lives(struct kr_fake *fake, const void *base, size_t bytes)
{
    uintptr_t from = (uintptr_t)base;
    bool found = false;
    pthread_mutex_lock(&fake->lock);
    for (size_t i = 0; i < fake->block_count && !found; i++) {
        uintptr_t block = (uintptr_t)fake->blocks[i].base;
        found =
            from >= block && bytes <= fake->blocks[i].bytes && from - block <= fake->blocks[i].bytes - bytes;
    }
    if (!found)
        fake->strays++;
    pthread_mutex_unlock(&fake->lock);
    return found;
}

int fake_block_add(struct kr_fake *fake, void *base, size_t bytes, enum kr_place place, bool own)
{
    int status = KREPLAY_NO_MEMORY;
    pthread_mutex_lock(&fake->lock);
    if (bytes > fake->limit[place] - fake->used[place])
        goto out;
    if (fake->block_count == fake->block_capacity) {
        size_t capacity = fake->block_capacity * 2 + 16;
        struct fake_block *blocks = realloc(fake->blocks, capacity * sizeof *blocks);
        if (!blocks)
            goto out;
        fake->blocks = blocks;
        fake->block_capacity = capacity;
    }
    fake->blocks[fake->block_count++] = (struct fake_block){base, bytes, place, own};
    fake->used[place] += bytes;
    status = 0;
out:
    pthread_mutex_unlock(&fake->lock);
    return status;
}

void fake_block_remove(struct kr_fake *fake, void *base)
{
    pthread_mutex_lock(&fake->lock);
    for (size_t i = 0; i < fake->block_count; i++) {
        if (fake->blocks[i].base != base)
            continue;
        fake->used[fake->blocks[i].place] -= fake->blocks[i].bytes;
        fake->blocks[i] = fake->blocks[--fake->block_count];
        break;
    }
    pthread_mutex_unlock(&fake->lock);
}

static int adopt(struct kr_fake *fake, uint32_t agent, void *base, size_t bytes, enum kr_memory_kind kind,
                 bool own)
{
    kr_gate_enter(fake->engine, agent);
    int status = fake_block_add(fake, base, bytes, KR_PLACE_DEVICE, own);
    // The program comes first: what kreplay keeps idle is given back.
    if (status != 0 && kr_engine_give_back(fake->engine, agent) > 0)
        status = fake_block_add(fake, base, bytes, KR_PLACE_DEVICE, own);
    if (status == 0)
        status = kr_inventory_add(fake->engine, agent, base, bytes, kind);
    kr_gate_leave(fake->engine, agent);
    return status;
}

int kr_fake_adopt(struct kr_fake *fake, uint32_t agent, void *base, size_t bytes, enum kr_memory_kind kind)
{
    return adopt(fake, agent, base, bytes, kind, false);
}

void *kr_fake_malloc(struct kr_fake *fake, uint32_t agent, size_t bytes)
{
    void *base = calloc(1, bytes ? bytes : 1);
    if (base && adopt(fake, agent, base, bytes, KR_MEMORY_DEVICE, true) != 0) {
        free(base);
        base = NULL;
    }
    return base;
}

void kr_fake_drop(struct kr_fake *fake, uint32_t agent, void *base)
{
    kr_gate_enter(fake->engine, agent);
    kr_inventory_remove(fake->engine, base);
    fake_block_remove(fake, base);
    kr_gate_leave(fake->engine, agent);
}

void kr_fake_free(struct kr_fake *fake, uint32_t agent, void *base)
{
    kr_fake_drop(fake, agent, base);
    free(base);
}

void kr_fake_launch(struct kr_fake *fake, struct kr_window *window)
{
    for (size_t i = 0; i < window->op_count; i++)
        fake_run_op(fake, window->agent, &window->ops[i], NULL, NULL);
}

static void settle(struct kr_fake *fake, const struct fake_late *late)
{
    struct kr_window *window = late->window;
    for (size_t op = 0; op < window->op_count; op++) {
        if (op >= late->ran)
            fake_run_op(fake, window->agent, &window->ops[op], NULL, NULL);
        ((struct kr_fake_op *)window->ops[op].backend)->completions++;
    }
}

void kr_fake_settle(struct kr_fake *fake)
{
    for (size_t i = 0; i < fake->late_count; i++)
        settle(fake, &fake->late[i]);
    fake->late_count = 0;
}

void kr_fake_settle_window(struct kr_fake *fake, const struct kr_window *window)
{
    struct fake_late late = {0};
    pthread_mutex_lock(&fake->lock);
    for (size_t i = 0; i < fake->late_count && !late.window; i++)
        if (fake->late[i].window == window) {
            late = fake->late[i];
            fake->late[i] = fake->late[--fake->late_count];
        }
    pthread_mutex_unlock(&fake->lock);
    if (late.window)
        settle(fake, &late);
}

unsigned kr_fake_calls(struct kr_fake *fake, enum kr_fake_call call)
{
    pthread_mutex_lock(&fake->lock);
    unsigned calls = fake->calls[call];
    pthread_mutex_unlock(&fake->lock);
    return calls;
}

unsigned kr_fake_strays(struct kr_fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    unsigned strays = fake->strays;
    pthread_mutex_unlock(&fake->lock);
    return strays;
}

uint64_t kr_fake_longest_wait_ns(struct kr_fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    uint64_t longest = fake->longest_wait_ns;
    pthread_mutex_unlock(&fake->lock);
    return longest;
}

uint64_t kr_fake_used_bytes(struct kr_fake *fake, enum kr_place place)
{
    pthread_mutex_lock(&fake->lock);
    uint64_t used = fake->used[place];
    pthread_mutex_unlock(&fake->lock);
    return used;
}

unsigned kr_fake_flags(struct kr_fake *fake)
{
    return fake->backend.flags;
}
