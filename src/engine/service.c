// SPDX-License-Identifier: MIT
// Owns the tool: its registration, and every call into it. The tool belongs to the process, so that it can
// register before an engine exists; it is forgotten with the engine it served.
#include "engine/internal.h"

#include <string.h>

static struct {
    pthread_mutex_t lock; // of tool while it changes
    kreplay_tool tool;
    _Atomic bool registered, locked;
    _Atomic(struct kr_engine *) engine;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

// Agents, kernels, code objects and messages come one at a time, from any thread, and a callback may cause a
// message.
static pthread_mutex_t tell = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int kreplay_register(const kreplay_tool *tool)
{
    int status = 0;
    if (!tool || tool->size < sizeof(size_t) + 2 * sizeof(void *))
        return KREPLAY_INVALID;
    pthread_mutex_lock(&service.lock);
    if (service.registered) {
        status = KREPLAY_ALREADY_REGISTERED;
    } else if (service.locked) {
        status = KREPLAY_LOCKED;
    } else {
        // An older tool knows fewer callbacks: the rest stays NULL.
        memset(&service.tool, 0, sizeof service.tool);
        memcpy(&service.tool, tool, tool->size < sizeof *tool ? tool->size : sizeof *tool);
        service.registered = true;
    }
    struct kr_engine *engine = service.engine;
    pthread_mutex_unlock(&service.lock);
    for (uint32_t i = 0; status == 0 && engine && i < engine->agent_count; i++)
        kr_service_agent(engine, &engine->agents[i].info);
    return status;
}

void kr_service_attach(struct kr_engine *engine)
{
    service.engine = engine;
}

void kr_service_detach(struct kr_engine *engine)
{
    if (service.engine != engine)
        return;
    // No agent, kernel or message comes while the tool ends, and none after it.
    pthread_mutex_lock(&tell);
    if (service.registered && service.tool.fini)
        service.tool.fini(service.tool.tool);
    pthread_mutex_lock(&service.lock);
    service.registered = false;
    service.locked = false;
    service.engine = NULL;
    pthread_mutex_unlock(&service.lock);
    pthread_mutex_unlock(&tell);
}

bool kr_service_registered(void)
{
    return service.registered;
}

void kr_service_lock(void)
{
    if (service.locked)
        return;
    pthread_mutex_lock(&service.lock);
    service.locked = true;
    pthread_mutex_unlock(&service.lock);
}

// Calls a callback of the process-wide kind.
#define TELL(callback, argument)                                                                             \
    do {                                                                                                     \
        if (!service.registered)                                                                             \
            break;                                                                                           \
        pthread_mutex_lock(&tell);                                                                           \
        if (service.registered && service.tool.callback)                                                     \
            service.tool.callback(service.tool.tool, argument);                                              \
        pthread_mutex_unlock(&tell);                                                                         \
    } while (0)

void kr_service_agent(struct kr_engine *engine, const kreplay_agent *info)
{
    if (service.engine == engine)
        TELL(agent, info);
}

void kr_service_code_object(const kreplay_code_object *code_object)
{
    TELL(code_object, code_object);
}
void kr_service_kernel(const kreplay_kernel *kernel)
{
    TELL(kernel, kernel);
}
void kr_service_message(const char *text)
{
    TELL(message, text);
}

void kr_service_config(struct kr_agent_state *agent, kreplay_phase phase, kreplay_config *config)
{
    if (!service.registered || !service.tool.config)
        return;
    pthread_mutex_lock(&agent->callbacks);
    service.tool.config(service.tool.tool, phase, config);
    pthread_mutex_unlock(&agent->callbacks);
}

void kr_service_pass(struct kr_agent_state *agent, kreplay_phase phase, kreplay_pass *pass)
{
    if (!service.registered || !service.tool.pass)
        return;
    pthread_mutex_lock(&agent->callbacks);
    service.tool.pass(service.tool.tool, phase, pass);
    pthread_mutex_unlock(&agent->callbacks);
}

void kr_service_dispatch(struct kr_agent_state *agent, const kreplay_dispatch_record *record)
{
    if (!service.registered || !service.tool.dispatch)
        return;
    pthread_mutex_lock(&agent->callbacks);
    service.tool.dispatch(service.tool.tool, record);
    pthread_mutex_unlock(&agent->callbacks);
}

bool kr_service_continue(struct kr_agent_state *agent, kreplay_continue_fn ask, const kreplay_pass *pass)
{
    pthread_mutex_lock(&agent->callbacks);
    int answer = ask(pass->dispatch, pass->current_pass, pass->total_passes, pass->user_data);
    pthread_mutex_unlock(&agent->callbacks);
    return answer != 0;
}

int kreplay_counters(uint32_t agent_id, int (*visit)(void *arg, const kreplay_counter *counter), void *arg)
{
    struct kr_engine *engine = service.engine;
    if (!engine || !visit || agent_id >= engine->agent_count)
        return KREPLAY_INVALID;
    return engine->backend->counters(engine->ctx, agent_id, visit, arg);
}

int kreplay_group_create(uint32_t agent_id, const char *const *names, size_t count, kreplay_group **group,
                         char *error, size_t error_bytes)
{
    struct kr_engine *engine = service.engine;
    char unused[1];
    if (!error || error_bytes == 0) {
        error = unused;
        error_bytes = sizeof unused;
    }
    error[0] = '\0';
    if (!group)
        return KREPLAY_INVALID;
    *group = NULL;
    if (!engine || (!names && count > 0) || agent_id >= engine->agent_count)
        return KREPLAY_INVALID;
    int status =
        engine->backend->group_create(engine->ctx, agent_id, names, count, group, error, error_bytes);
    if (status != 0)
        *group = NULL;
    return status;
}

void kreplay_group_destroy(kreplay_group *group)
{
    struct kr_engine *engine = service.engine;
    if (group && engine)
        engine->backend->group_destroy(engine->ctx, group);
}
