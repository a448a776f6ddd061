// SPDX-License-Identifier: MIT
// Owns the counts of dispatches that pass on, and the rule when one may.
#include "hsa/unheld.h"

#include "hsa/worker.h"

// Of the barriers only. An OR without any signal goes on at once.
static bool may_wait(const hsa_barrier_and_packet_t *barrier, bool any)
{
    unsigned given = 0, met = 0;
    for (unsigned i = 0; i < sizeof(barrier->dep_signal) / sizeof(barrier->dep_signal[0]); i++) {
        if (!barrier->dep_signal[i].handle)
            continue;
        given++;
        met += kr_hsa.api.hsa_signal_load_scacquire(barrier->dep_signal[i]) == 0;
    }
    return any ? given > 0 && met == 0 : met < given;
}

void kr_hsa_unheld_note_packet(struct kr_hsa_queue *queue, const void *packet)
{
    unsigned type =
        *(const uint16_t *)packet >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
    switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        return;
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
        queue->doubtful = queue->doubtful || may_wait(packet, type == HSA_PACKET_TYPE_BARRIER_OR);
        return;
    default: // vendors' packets can wait for memory and for signals
        queue->doubtful = true;
    }
}

bool kr_hsa_unheld_may_pass(struct kr_hsa_queue *queue)
{
    struct kr_hsa_agent *agent = queue->agent;
    if (!kr_hsa.bounds.pass_unwanted || queue->doubtful || atomic_load(&queue->dead) ||
        kr_hsa_worker_self() == agent)
        return false;
    bool entered = kr_gate_try_enter(kr_hsa.engine, agent->id);
    pthread_mutex_lock(&agent->lock);
    bool pass = queue->gates_shut > 0 || entered;
    if (pass) {
        queue->unheld_count++;
        if (queue->gates_shut == 0)
            queue->unheld_released = queue->unheld_count;
    }
    pthread_mutex_unlock(&agent->lock);
    if (entered)
        kr_gate_leave(kr_hsa.engine, agent->id);
    return pass;
}

void kr_hsa_unheld_shut(struct kr_hsa_queue *queue, struct kr_hsa_dispatch *dispatch)
{
    dispatch->unheld_before = queue->unheld_count;
    queue->gates_shut++;
    queue->doubtful = false;
}

bool kr_hsa_unheld_may_open(struct kr_hsa_dispatch *dispatch, bool entered)
{
    struct kr_hsa_queue *queue = dispatch->queue;
    // The next gate that is shut is that of the first dispatch still waiting.
    uint64_t released = queue->gates_shut > 1 ? queue->head->unheld_before : queue->unheld_count;
    if (released > dispatch->unheld_before && !entered)
        return false;
    queue->gates_shut--;
    queue->unheld_released = released;
    return true;
}

// With the agent lock held.
static bool is_idle(const struct kr_hsa_queue *queue)
{
    if (queue->unheld_released == 0 || atomic_load(&queue->dead))
        return true;
    hsa_signal_value_t left = kr_hsa.api.hsa_signal_load_scacquire(queue->unheld);
    return (uint64_t)(KR_HSA_PROGRESS_START - left) >= queue->unheld_released;
}

bool kr_hsa_unheld_queue_idle(struct kr_hsa_queue *queue)
{
    pthread_mutex_lock(&queue->agent->lock);
    bool idle = is_idle(queue);
    pthread_mutex_unlock(&queue->agent->lock);
    return idle;
}

bool kr_hsa_unheld_idle(struct kr_hsa_agent *agent)
{
    bool idle = true;
    pthread_mutex_lock(&agent->lock);
    for (const struct kr_hsa_queue *q = agent->queues; q && idle; q = q->next)
        idle = is_idle(q);
    pthread_mutex_unlock(&agent->lock);
    return idle;
}
