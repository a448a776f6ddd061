// SPDX-License-Identifier: MIT
// The engine's own view of itself: what its files share and back ends do not see.
#ifndef KR_INTERNAL_H
#define KR_INTERNAL_H

#include "engine/bounds.h"
#include "engine/clock.h"
#include "engine/diagnose.h"
#include "engine/engine.h"
#include "engine/fault.h"
#include "engine/gate.h"
#include "engine/inventory.h"
#include "engine/known.h"
#include "engine/names.h"
#include "engine/run.h"
#include "engine/snapshot.h"

struct kr_agent_state {
    kreplay_agent info; // strings owned
    struct kr_gate gate;
    struct kr_shadow shadow;        // under the gate's writer lock
    pthread_mutex_t callbacks;      // recursive: one callback of this agent at a time
    pthread_mutex_t executing;      // the back end takes one execution at a time
    _Atomic uint64_t accessors;     // agents that may reach this one's memory, itself included
    _Atomic int blind;              // a kreplay_reason: why nothing is replayed here any more
    _Atomic(struct kr_run *) spare; // kept for the next window
};

struct kr_kernel_set { // kernels found to be non-deterministic: few, never forgotten
    pthread_mutex_t lock;
    uint64_t *ids;
    size_t count, capacity;
};

struct kr_engine {
    const struct kr_backend *backend;
    void *ctx;
    struct kr_bounds bounds;
    enum kr_log_level level;
    struct kr_diagnosed diagnosed;
    uint32_t faults;   // bits by enum kr_fault
    bool restore_full; // KREPLAY_RESTORE=full
    struct kr_names names;
    struct kr_inventory inventory;
    struct kr_kernel_set unsteady;
    struct kr_known known; // under the lock of the process-wide callbacks
    _Atomic uint64_t ids[KR_ID_COUNT];
    _Atomic uint64_t windows;
    _Atomic uint32_t agent_count;
    struct kr_agent_state agents[KR_MAX_AGENTS];
};

static inline bool kr_fault_on(const struct kr_engine *engine, enum kr_fault fault)
{
    return engine->faults >> fault & 1;
}

// The bound, unless the debug switch takes all bounds away.
static inline uint64_t kr_bound(const struct kr_engine *engine, uint64_t bound_ns)
{
    return kr_fault_on(engine, KR_FAULT_bound) ? UINT64_MAX : bound_ns;
}

// Makes *array hold at least `need` elements of `each` bytes, doubling. KREPLAY_NO_MEMORY: the array is
// unchanged.
int kr_grow(void **array, size_t *capacity, size_t need, size_t each);

// ---- service.c: the tools, at most two a process.
int kr_service_register(enum kr_tool_slot slot, const kreplay_tool *tool); // as kreplay_register
void kr_service_attach(struct kr_engine *engine); // becomes the engine of the public functions
void kr_service_detach(struct kr_engine *engine); // fini, and the tools are forgotten
bool kr_service_registered(void);
void kr_service_lock(void); // registration is over
void kr_service_agent(struct kr_engine *engine, const kreplay_agent *info);
void kr_service_code_object(struct kr_engine *engine, const kreplay_code_object *code_object);
void kr_service_kernel(struct kr_engine *engine, const kreplay_kernel *kernel);
void kr_service_message(const char *text);
// What the filters say of a dispatch; `data` has KR_TOOLS places. False: none wants it.
bool kr_service_filter(const kreplay_dispatch *dispatch, union kreplay_user_data *data);
// The record of a dispatch that no filter wants: on the submitting thread, beside all other callbacks.
void kr_service_filtered(const kreplay_dispatch_record *record);
// Callbacks of one agent: under its `callbacks` lock. All are fine without a tool.
void kr_service_config(struct kr_agent_state *agent, kreplay_phase phase, kreplay_config *config,
                       struct kr_tool_view *view);
void kr_service_pass(struct kr_agent_state *agent, kreplay_phase phase, kreplay_pass *pass,
                     struct kr_tool_view *view);
void kr_service_step(struct kr_agent_state *agent, kreplay_phase phase, const kreplay_step *step);
void kr_service_dispatch(struct kr_agent_state *agent, const kreplay_dispatch_record *record);
bool kr_service_continue(struct kr_agent_state *agent, const kreplay_pass *pass,
                         const struct kr_tool_view *view);

#endif
