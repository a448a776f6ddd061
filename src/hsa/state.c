// SPDX-License-Identifier: MIT
// The one struct kr_hsa, who may use it when, and small helpers that every file of this room needs.
#include "hsa/state.h"

#include "hsa/agents.h"

struct kr_hsa kr_hsa = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool kr_hsa_hold(void)
{
    if (!atomic_load(&kr_hsa.active))
        return false;
    atomic_fetch_add(&kr_hsa.users, 1);
    if (!atomic_load(&kr_hsa.ended) && kr_hsa_agents_start())
        return true;
    atomic_fetch_sub(&kr_hsa.users, 1);
    return false;
}

bool kr_hsa_hold_ended(void)
{
    if (!atomic_load(&kr_hsa.active))
        return false;
    atomic_fetch_add(&kr_hsa.users, 1);
    if (atomic_load(&kr_hsa.ended) && !atomic_load(&kr_hsa.closed))
        return true;
    atomic_fetch_sub(&kr_hsa.users, 1);
    return false;
}

void kr_hsa_release(void)
{
    atomic_fetch_sub(&kr_hsa.users, 1);
}

struct kr_hsa_agent *kr_hsa_agent_of(hsa_agent_t agent)
{
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++)
        if (kr_hsa.agents[i].handle.handle == agent.handle)
            return &kr_hsa.agents[i];
    return NULL;
}

void kr_hsa_gates_enter(const struct kr_hsa_agent *only)
{
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++)
        if (!only || only->id == i)
            kr_gate_enter(kr_hsa.engine, i);
}

void kr_hsa_gates_leave(const struct kr_hsa_agent *only)
{
    for (uint32_t i = kr_hsa.agent_count; i-- > 0;)
        if (!only || only->id == i)
            kr_gate_leave(kr_hsa.engine, i);
}

void kr_hsa_blind(const struct kr_hsa_agent *only, kreplay_reason reason, const char *what)
{
    kr_hsa_gates_enter(only);
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++)
        if (!only || only->id == i)
            kr_engine_blind(kr_hsa.engine, i, reason);
    kr_hsa_gates_leave(only);
    if (only)
        kr_engine_message(kr_hsa.engine, "%s: nothing is replayed on GPU %u any more", what, only->id);
    else
        kr_engine_message(kr_hsa.engine, "%s: nothing is replayed any more", what);
}

const char *kr_hsa_status_text(hsa_status_t status)
{
    const char *text = NULL;
    if (kr_hsa.api.hsa_status_string(status, &text) != HSA_STATUS_SUCCESS || !text)
        return "unknown error";
    return text;
}

uint64_t kr_hsa_ticks_to_ns(uint64_t ticks)
{
    if (kr_hsa.timestamp_hz == 1000000000u)
        return ticks;
    return (uint64_t)((unsigned __int128)ticks * 1000000000u / kr_hsa.timestamp_hz);
}
