// SPDX-License-Identifier: MIT
// Owns the engine's life: creation, agents, ids, messages.
#include "engine/internal.h"
#include "engine/line.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kr_grow(void **array, size_t *capacity, size_t need, size_t each)
{
    size_t next = *capacity ? *capacity : 16, bytes;
    if (need <= *capacity)
        return 0;
    while (next < need)
        next = next > SIZE_MAX / 2 ? need : next * 2;
    if (__builtin_mul_overflow(next, each, &bytes))
        return KREPLAY_NO_MEMORY;
    void *larger = realloc(*array, bytes);
    if (!larger)
        return KREPLAY_NO_MEMORY;
    *array = larger;
    *capacity = next;
    return 0;
}

static void bad_number(void *arg, const char *variable, const char *value)
{
    kr_engine_message(arg, "%s: \"%s\" is not a number; the default stays", variable, value);
}

static void bad_fault(void *arg, const char *name)
{
    kr_engine_message(arg, "KREPLAY_FAULT: there is no switch \"%s\"", name);
}

static void read_environment(struct kr_engine *engine)
{
    const char *restore = getenv("KREPLAY_RESTORE"), *level = getenv(KR_ENV_LOG_LEVEL);
    engine->level = kr_level_parse(level);
    if (engine->level == KR_LEVEL_COUNT) {
        engine->level = KR_LEVEL_WARNING;
        kr_engine_message(engine, "%s: there is no level \"%s\"; warning stays", KR_ENV_LOG_LEVEL, level);
    }
    engine->faults = kr_fault_parse(getenv("KREPLAY_FAULT"), bad_fault, engine);
    kr_bounds_read(&engine->bounds, bad_number, engine);
    if (kr_names_read(&engine->names, getenv(KR_ENV_DECLINE_KERNELS)) != 0)
        kr_engine_message(engine, "%s: only the first %u names are taken", KR_ENV_DECLINE_KERNELS,
                          engine->names.count);
    engine->restore_full = restore && strcmp(restore, "full") == 0;
    if (restore && *restore && !engine->restore_full && strcmp(restore, "changed") != 0)
        kr_engine_message(engine, "KREPLAY_RESTORE: \"%s\" is neither \"changed\" nor \"full\"", restore);
}

int kr_engine_create(const struct kr_backend *backend, void *ctx, struct kr_engine **out)
{
    struct kr_engine *engine = calloc(1, sizeof *engine);
    *out = NULL;
    if (!engine)
        return KREPLAY_NO_MEMORY;
    engine->backend = backend;
    engine->ctx = ctx;
    if (kr_inventory_init(&engine->inventory) != 0) {
        free(engine);
        return KREPLAY_NO_MEMORY;
    }
    pthread_mutex_init(&engine->unsteady.lock, NULL);
    read_environment(engine);
    kr_service_attach(engine);
    *out = engine;
    return 0;
}

static void free_info(kreplay_agent *info)
{
    free((char *)info->name);
    free((char *)info->product);
    free((char *)info->vendor);
}

void kr_engine_destroy(struct kr_engine *engine)
{
    if (!engine)
        return;
    kr_service_detach(engine);
    for (uint32_t i = 0; i < engine->agent_count; i++) {
        struct kr_agent_state *agent = &engine->agents[i];
        kr_run_forget(agent->spare);
        kr_shadow_fini(engine, &agent->shadow);
        kr_gate_fini(&agent->gate);
        pthread_mutex_destroy(&agent->executing);
        pthread_mutex_destroy(&agent->callbacks);
        free_info(&agent->info);
    }
    kr_known_free(&engine->known);
    kr_names_free(&engine->names);
    free(engine->unsteady.ids);
    pthread_mutex_destroy(&engine->unsteady.lock);
    kr_inventory_fini(&engine->inventory);
    free(engine);
}

void kr_engine_end_tool(struct kr_engine *engine)
{
    kr_service_detach(engine);
}

static int init_agent(struct kr_agent_state *agent, const kreplay_agent *info)
{
    pthread_mutexattr_t recursive;
    size_t known = info->size < sizeof agent->info ? info->size : sizeof agent->info;

    memcpy(&agent->info, info, known);
    agent->info.size = sizeof agent->info;
    agent->info.name = strdup(info->name ? info->name : "");
    agent->info.product = strdup(info->product ? info->product : "");
    agent->info.vendor = strdup(info->vendor ? info->vendor : "");
    if (!agent->info.name || !agent->info.product || !agent->info.vendor)
        goto error;
    if (kr_gate_init(&agent->gate) != 0)
        goto error;
    if (kr_shadow_init(&agent->shadow, info->agent_id) != 0) {
        kr_gate_fini(&agent->gate);
        goto error;
    }
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&agent->callbacks, &recursive);
    pthread_mutexattr_destroy(&recursive);
    pthread_mutex_init(&agent->executing, NULL);
    agent->accessors = UINT64_C(1) << info->agent_id;
    return 0;
error:
    free_info(&agent->info);
    return KREPLAY_NO_MEMORY;
}

int kr_engine_add_agent(struct kr_engine *engine, const kreplay_agent *info)
{
    uint32_t count = engine->agent_count;
    if (info->agent_id != count || count == KR_MAX_AGENTS)
        return KREPLAY_INVALID;
    int status = init_agent(&engine->agents[count], info);
    if (status != 0)
        return status;
    engine->agent_count = count + 1;
    kr_service_agent(engine, &engine->agents[count].info);
    return 0;
}

void kr_engine_allow_access(struct kr_engine *engine, uint32_t owner, uint32_t accessor)
{
    if (owner < engine->agent_count && accessor < engine->agent_count)
        engine->agents[owner].accessors |= UINT64_C(1) << accessor;
}

void kr_engine_blind(struct kr_engine *engine, uint32_t agent, kreplay_reason reason)
{
    int none = KREPLAY_REASON_NONE;
    if (agent < engine->agent_count)
        atomic_compare_exchange_strong(&engine->agents[agent].blind, &none, (int)reason);
}

uint64_t kr_engine_give_back(struct kr_engine *engine, uint32_t agent)
{
    // Inside its own window the snapshot is in use.
    if (agent >= engine->agent_count || kr_gate_own_window(engine, agent))
        return 0;
    return kr_shadow_give_back(engine, &engine->agents[agent].shadow);
}

uint64_t kr_engine_new_id(struct kr_engine *engine, enum kr_id which)
{
    return ++engine->ids[which];
}

bool kr_engine_active(struct kr_engine *engine)
{
    (void)engine;
    return kr_service_registered();
}

void kr_engine_code_object(struct kr_engine *engine, const kreplay_code_object *code_object)
{
    kr_service_code_object(engine, code_object);
}

void kr_engine_kernel(struct kr_engine *engine, const kreplay_kernel *kernel)
{
    kr_service_kernel(engine, kernel);
}

static void say(struct kr_engine *engine, enum kr_log_level level, const char *format, va_list args)
{
    char text[KR_LINE_BYTES];
    if (level > engine->level)
        return;
    vsnprintf(text, sizeof text, format, args);
    kr_line(kr_fault_on(engine, KR_FAULT_output) ? STDOUT_FILENO : STDERR_FILENO, text);
    kr_service_message(text);
}

void kr_engine_say(struct kr_engine *engine, enum kr_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(engine, level, format, args);
    va_end(args);
}

void kr_engine_message(struct kr_engine *engine, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(engine, KR_LEVEL_WARNING, format, args);
    va_end(args);
}
