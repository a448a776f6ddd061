// SPDX-License-Identifier: MIT
// Owns the tools: their registration, and every call into them. They belong to the process, so that they can
// register before an engine exists; they are forgotten with the engine they served.
//
// Where both are there they are called with one record, kreplay's own first at ENTER and last at EXIT, so that
// the user's sees and may change what is planned. Only user_data is each tool's own.
#include "engine/builtin.h"
#include "engine/internal.h"

#include <string.h>

static struct {
    pthread_mutex_t lock; // of tool while it changes
    struct {
        kreplay_tool tool;
        _Atomic bool registered;
    } slots[KR_TOOLS];
    _Atomic bool locked;
    _Atomic(struct kr_engine *) engine;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

// Agents, kernels, code objects and messages come one at a time, from any thread, and a callback may cause a
// message. It guards what is known of them, too.
static pthread_mutex_t tell = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// The tool of the slot if it has the callback, else NULL.
#define TOOL(slot, callback)                                                                                 \
    (service.slots[slot].registered && service.slots[slot].tool.callback ? &service.slots[slot].tool : NULL)

// Calls a callback of the process-wide kind in every tool, with `tell` held.
#define TELL_ALL(callback, argument)                                                                         \
    do {                                                                                                     \
        for (int slot_ = 0; slot_ < KR_TOOLS; slot_++) {                                                     \
            const kreplay_tool *told_ = TOOL(slot_, callback);                                               \
            if (told_)                                                                                       \
                told_->callback(told_->tool, argument);                                                      \
        }                                                                                                    \
    } while (0)

// A tool that comes late hears what the others know.
static void tell_what_is_known(struct kr_engine *engine, const kreplay_tool *tool)
{
    for (uint32_t i = 0; tool->agent && i < engine->agent_count; i++)
        tool->agent(tool->tool, &engine->agents[i].info);
    for (size_t i = 0; tool->code_object && i < engine->known.code_object_count; i++)
        tool->code_object(tool->tool, engine->known.code_objects[i]);
    for (size_t i = 0; tool->kernel && i < engine->known.kernel_count; i++)
        tool->kernel(tool->tool, engine->known.kernels[i]);
}

int kr_service_register(enum kr_tool_slot slot, const kreplay_tool *tool)
{
    int status = 0;
    if (!tool || tool->size < sizeof(size_t) + 2 * sizeof(void *))
        return KREPLAY_INVALID;
    pthread_mutex_lock(&tell);
    pthread_mutex_lock(&service.lock);
    kreplay_tool *own = &service.slots[slot].tool;
    if (service.slots[slot].registered) {
        status = KREPLAY_ALREADY_REGISTERED;
    } else if (service.locked) {
        status = KREPLAY_LOCKED;
    } else {
        // An older tool knows fewer callbacks: the rest stays NULL.
        memset(own, 0, sizeof *own);
        memcpy(own, tool, tool->size < sizeof *own ? tool->size : sizeof *own);
        service.slots[slot].registered = true;
    }
    struct kr_engine *engine = service.engine;
    pthread_mutex_unlock(&service.lock);
    if (status == 0 && engine)
        tell_what_is_known(engine, own);
    pthread_mutex_unlock(&tell);
    return status;
}

int kreplay_register(const kreplay_tool *tool)
{
    return kr_service_register(KR_TOOL_USER, tool);
}

int kr_engine_register_builtin(const kreplay_tool *tool)
{
    return kr_service_register(KR_TOOL_BUILTIN, tool);
}

void kr_service_attach(struct kr_engine *engine)
{
    service.engine = engine;
}

void kr_service_detach(struct kr_engine *engine)
{
    if (service.engine != engine)
        return;
    // No agent, kernel or message comes while the tools end, and none after it.
    pthread_mutex_lock(&tell);
    for (int slot = KR_TOOLS; slot-- > 0;) {
        const kreplay_tool *tool = TOOL(slot, fini);
        if (tool)
            tool->fini(tool->tool);
        service.slots[slot].registered = false;
    }
    pthread_mutex_lock(&service.lock);
    service.locked = false;
    service.engine = NULL;
    pthread_mutex_unlock(&service.lock);
    pthread_mutex_unlock(&tell);
}

bool kr_service_registered(void)
{
    return service.slots[KR_TOOL_BUILTIN].registered || service.slots[KR_TOOL_USER].registered;
}

void kr_service_lock(void)
{
    if (service.locked)
        return;
    pthread_mutex_lock(&service.lock);
    service.locked = true;
    pthread_mutex_unlock(&service.lock);
}

void kr_service_agent(struct kr_engine *engine, const kreplay_agent *info)
{
    if (service.engine != engine)
        return;
    pthread_mutex_lock(&tell);
    TELL_ALL(agent, info);
    pthread_mutex_unlock(&tell);
}

// What no memory is left for is told, but nobody can ask for it later.
void kr_service_code_object(struct kr_engine *engine, const kreplay_code_object *code_object)
{
    pthread_mutex_lock(&tell);
    (void)kr_known_code_object(&engine->known, code_object);
    TELL_ALL(code_object, code_object);
    pthread_mutex_unlock(&tell);
}

void kr_service_kernel(struct kr_engine *engine, const kreplay_kernel *kernel)
{
    pthread_mutex_lock(&tell);
    (void)kr_known_kernel(&engine->known, kernel);
    TELL_ALL(kernel, kernel);
    pthread_mutex_unlock(&tell);
}

void kr_service_message(const char *text)
{
    if (!kr_service_registered())
        return;
    pthread_mutex_lock(&tell);
    TELL_ALL(message, text);
    pthread_mutex_unlock(&tell);
}

// With neither callback there is nothing that a tool could be asked or told later.
static bool expects_to_be_asked(const kreplay_tool *tool)
{
    return tool->config || tool->dispatch;
}

bool kr_service_filter(const kreplay_dispatch *dispatch, union kreplay_user_data *data)
{
    bool wanted = false;
    for (int slot = 0; slot < KR_TOOLS; slot++) {
        const kreplay_tool *tool = &service.slots[slot].tool;
        data[slot].value = 0;
        if (!service.slots[slot].registered)
            continue;
        if (tool->filter)
            wanted = tool->filter(tool->tool, dispatch, wanted, &data[slot]);
        else if (expects_to_be_asked(tool))
            wanted = true;
    }
    return wanted;
}

void kr_service_filtered(const kreplay_dispatch_record *record)
{
    // Waiting for a callback under way would be waiting for what that one may wait for: the very queue whose
    // submission this is in.
    for (int slot = 0; slot < KR_TOOLS; slot++) {
        const kreplay_tool *tool = TOOL(slot, dispatch);
        if (tool)
            tool->dispatch(tool->tool, record);
    }
}

// The slot whose turn it is, of KR_TOOLS turns.
static int turn(kreplay_phase phase, int n)
{
    return phase == KREPLAY_ENTER ? n : KR_TOOLS - 1 - n;
}

void kr_service_config(struct kr_agent_state *agent, kreplay_phase phase, kreplay_config *config,
                       struct kr_tool_view *view)
{
    pthread_mutex_lock(&agent->callbacks);
    for (int n = 0; n < KR_TOOLS; n++) {
        int slot = turn(phase, n);
        const kreplay_tool *tool = TOOL(slot, config);
        kreplay_continue_fn before = config->continue_fn;
        if (!tool)
            continue;
        config->user_data = view->data[slot];
        tool->config(tool->tool, phase, config);
        view->data[slot] = config->user_data;
        if (config->continue_fn != before)
            view->asker = slot;
    }
    pthread_mutex_unlock(&agent->callbacks);
}

void kr_service_pass(struct kr_agent_state *agent, kreplay_phase phase, kreplay_pass *pass,
                     struct kr_tool_view *view)
{
    pthread_mutex_lock(&agent->callbacks);
    for (int n = 0; n < KR_TOOLS; n++) {
        int slot = turn(phase, n);
        const kreplay_tool *tool = TOOL(slot, pass);
        kreplay_continue_fn before = pass->continue_fn;
        if (!tool)
            continue;
        pass->user_data = view->data[slot];
        tool->pass(tool->tool, phase, pass);
        view->data[slot] = pass->user_data;
        if (pass->continue_fn != before)
            view->asker = slot;
    }
    pthread_mutex_unlock(&agent->callbacks);
}

void kr_service_step(struct kr_agent_state *agent, kreplay_phase phase, const kreplay_step *step)
{
    for (int n = 0; n < KR_TOOLS; n++) {
        const kreplay_tool *tool = TOOL(turn(phase, n), step);
        if (!tool)
            continue;
        pthread_mutex_lock(&agent->callbacks);
        tool->step(tool->tool, phase, step);
        pthread_mutex_unlock(&agent->callbacks);
    }
}

void kr_service_dispatch(struct kr_agent_state *agent, const kreplay_dispatch_record *record)
{
    pthread_mutex_lock(&agent->callbacks);
    for (int slot = 0; slot < KR_TOOLS; slot++) {
        const kreplay_tool *tool = TOOL(slot, dispatch);
        if (tool)
            tool->dispatch(tool->tool, record);
    }
    pthread_mutex_unlock(&agent->callbacks);
}

bool kr_service_continue(struct kr_agent_state *agent, const kreplay_pass *pass,
                         const struct kr_tool_view *view)
{
    pthread_mutex_lock(&agent->callbacks);
    int answer =
        pass->continue_fn(pass->dispatch, pass->current_pass, pass->total_passes, view->data[view->asker]);
    pthread_mutex_unlock(&agent->callbacks);
    return answer != 0;
}

int kreplay_agents(int (*visit)(void *arg, const kreplay_agent *agent), void *arg)
{
    struct kr_engine *engine = service.engine;
    int status = 0;
    if (!engine || !visit)
        return KREPLAY_INVALID;
    for (uint32_t i = 0; i < engine->agent_count && status == 0; i++)
        status = visit(arg, &engine->agents[i].info);
    return status;
}

int kreplay_code_objects(int (*visit)(void *arg, const kreplay_code_object *code_object), void *arg)
{
    struct kr_engine *engine = service.engine;
    int status = 0;
    if (!engine || !visit)
        return KREPLAY_INVALID;
    pthread_mutex_lock(&tell);
    for (size_t i = 0; i < engine->known.code_object_count && status == 0; i++)
        status = visit(arg, engine->known.code_objects[i]);
    pthread_mutex_unlock(&tell);
    return status;
}

int kreplay_kernels(int (*visit)(void *arg, const kreplay_kernel *kernel), void *arg)
{
    struct kr_engine *engine = service.engine;
    int status = 0;
    if (!engine || !visit)
        return KREPLAY_INVALID;
    pthread_mutex_lock(&tell);
    for (size_t i = 0; i < engine->known.kernel_count && status == 0; i++)
        status = visit(arg, engine->known.kernels[i]);
    pthread_mutex_unlock(&tell);
    return status;
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
