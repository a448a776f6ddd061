// SPDX-License-Identifier: MIT
// A queue of kreplay's own, on which the worker runs the program's dispatches and counter packets. It has no
// other user, so its packets need no synchronisation between producers.
#ifndef KR_HSA_PRIVATE_QUEUE_H
#define KR_HSA_PRIVATE_QUEUE_H

#include <stdatomic.h>

#include "hsa/prototypes.h"

struct kr_hsa_agent;
struct kr_hsa_queue;

struct kr_hsa_private_queue {
    hsa_queue_t *queue;                 // NULL = not open
    struct kr_hsa_queue_health *health; // outlives the queue's error callback
};

// Opens the queue with profiling (dispatch times) on. KREPLAY_DEVICE.
int kr_hsa_private_open(struct kr_hsa_agent *agent, struct kr_hsa_private_queue *queue);

// Destroys it; what it still runs is stopped by the runtime. A queue that is not open is fine.
void kr_hsa_private_close(struct kr_hsa_private_queue *queue);

// The program's queue whose dispatch runs here from now on: it hears of errors. May be NULL.
void kr_hsa_private_serve(struct kr_hsa_private_queue *queue, struct kr_hsa_queue *program);

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
