// SPDX-License-Identifier: MIT
// The program's queues: made as intercept queues, and what happens to each packet.
#ifndef KR_HSA_INTERCEPT_H
#define KR_HSA_INTERCEPT_H

#include "hsa/state.h"

hsa_status_t kr_hsa_hook_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                      kr_hsa_queue_error_fn callback, void *data,
                                      uint32_t private_segment_size, uint32_t group_segment_size,
                                      hsa_queue_t **queue);
hsa_status_t kr_hsa_hook_queue_destroy(hsa_queue_t *queue);
void kr_hsa_queue_free(struct kr_hsa_queue *queue); // what kreplay has of a queue that is destroyed

// The runtime calls this for packets that the program submitted; `data` is the struct kr_hsa_queue.
void kr_hsa_intercept(const void *packets, uint64_t count, uint64_t user_index, void *data,
                      kr_hsa_packet_writer writer);

#endif
