// SPDX-License-Identifier: MIT
// Hardware counters through the runtime's own profiling extension (HSA_EXTENSION_AMD_AQLPROFILE): whichever
// library the runtime finds for it programs the registers.
#ifndef KR_HSA_COUNTERS_H
#define KR_HSA_COUNTERS_H

#include "hsa/state.h"

// A counter group of an agent; its address is also that of its struct kreplay_group. Each operation of a pass
// has its own buffers and packets, so that one pass can measure several dispatches without waiting in
// between.
struct kr_hsa_group;

int kr_hsa_counters(void *ctx, uint32_t agent, int (*visit)(void *arg, const kreplay_counter *counter),
                    void *arg);
int kr_hsa_group_create(void *ctx, uint32_t agent, const char *const *names, size_t count,
                        kreplay_group **group, char *error, size_t error_bytes);
void kr_hsa_group_destroy(void *ctx, kreplay_group *group);

// A dispatch that was detached while the group was armed: its packets and buffers stay until it is let go,
// even if the group is destroyed meanwhile.
void kr_hsa_group_hold(struct kr_hsa_group *group);
void kr_hsa_group_let_go(struct kr_hsa_group *group); // NULL is fine

// Makes sure that `count` operations of one pass have buffers and packets. KREPLAY_UNAVAILABLE,
// KREPLAY_NO_MEMORY.
int kr_hsa_group_reserve(struct kr_hsa_group *group, size_t count);

// The packets around operation `index`: 64 bytes each, headers set, no completion signals.
struct kr_hsa_counter_packets {
    const void *start, *read, *stop;
};
struct kr_hsa_counter_packets kr_hsa_group_packets(const struct kr_hsa_group *group, size_t index);

// Reads what operation `index` measured, after its stop packet completed. `values` has room for
// base.value_capacity.
int kr_hsa_group_read(struct kr_hsa_group *group, size_t index, kreplay_value *values, size_t *value_count);

#endif
