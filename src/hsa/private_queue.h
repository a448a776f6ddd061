// SPDX-License-Identifier: MIT
// A queue of kreplay's own, on which the worker runs the program's dispatches and counter packets. It has no
// other user, so its packets need no synchronisation between producers.
#ifndef KR_HSA_PRIVATE_QUEUE_H
#define KR_HSA_PRIVATE_QUEUE_H

#include <stdatomic.h>

#include "hsa/prototypes.h"

struct kr_hsa_agent;

struct kr_hsa_private_queue {
    hsa_queue_t *queue;                 // NULL = not open
    struct kr_hsa_queue_health *health; // outlives the queue's error callback
};

// Opens the queue with profiling (dispatch times) on. KREPLAY_DEVICE.
int kr_hsa_private_open(struct kr_hsa_agent *agent, struct kr_hsa_private_queue *queue);

// Takes the queue off the hardware with what it still runs, at once. It cannot be used afterwards, only
// closed. KREPLAY_DEVICE: the runtime refused, and work may still be running. A queue that is not open is
// fine.
int kr_hsa_private_halt(struct kr_hsa_private_queue *queue);

// Destroys it; what it still runs is stopped by the runtime. The runtime waits meanwhile for its event
// thread, which may be in a handler of the program's that waits for us: only for the end, where the program
// asked for the runtime to go. KREPLAY_DEVICE: refused, the queue is left behind. Not open is fine.
int kr_hsa_private_close(struct kr_hsa_private_queue *queue);
// The same for all other places: a thread of its own waits.
void kr_hsa_private_close_later(struct kr_hsa_private_queue *queue);
// Waits for closings that are under way. False after `timeout_ns`.
bool kr_hsa_private_closed(uint64_t timeout_ns);

// What the queue reported; HSA_STATUS_SUCCESS = no error.
hsa_status_t kr_hsa_private_error(const struct kr_hsa_private_queue *queue);

// Free packets.
uint64_t kr_hsa_private_room(struct kr_hsa_private_queue *queue);

// Writes one 64-byte packet; the hardware may start on it when kr_hsa_private_ring is called. There must be
// room.
void kr_hsa_private_push(struct kr_hsa_private_queue *queue, const void *packet);
void kr_hsa_private_ring(struct kr_hsa_private_queue *queue);

// Waits until `signal` falls below 1. KREPLAY_TIMEOUT, or KREPLAY_DEVICE when the queue (if it is open)
// reported an error.
int kr_hsa_private_wait(struct kr_hsa_private_queue *queue, hsa_signal_t signal, uint64_t timeout_ns);

// Header word of a packet: system scopes on both sides, behind everything before it.
#define KR_HSA_HEADER(type)                                                                                  \
    ((uint16_t)(((type) << HSA_PACKET_HEADER_TYPE) | (1 << HSA_PACKET_HEADER_BARRIER) |                      \
                (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |                        \
                (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)))

#endif
