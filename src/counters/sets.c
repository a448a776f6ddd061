// SPDX-License-Identifier: MIT
// What the sets hold. Ratios first: the inputs of one share a pass, and passes fill in this order.
#include "counters/sets.h"

#include <stddef.h>

// How large and how busy.
#define BASIC "GPUBusy OccupancyPercent VALUBusy MemUnitBusy L2CacheHit FETCH_SIZE WRITE_SIZE SQ_WAVES"

// What the waves execute, and what they wait for.
#define COMPUTE                                                                                              \
    "VALUBusy VALUUtilization SALUBusy MfmaUtil OccupancyPercent WaveExec WaveDepWait WaveIssueWait "        \
    "VALUInsts SALUInsts SFetchInsts LDSInsts SQ_INSTS_BRANCH SQ_WAVES"

// What they move, and through which caches.
#define MEMORY                                                                                               \
    "MemUnitBusy L2CacheHit L1iCacheHitRate sL1dCacheHitRate vL1dCacheUtil vL1dCacheWaveLatency "            \
    "EaRdLatency EaWrLatency LDSBankConflict VFetchInsts VWriteInsts FETCH_SIZE WRITE_SIZE TCC_REQ_sum "     \
    "TCP_TOTAL_CACHE_ACCESSES_sum SQ_WAVES"

// And how busy each unit is, with the kinds of arithmetic.
#define UNITS                                                                                                \
    "CpUtil SpiUtil TaUtil TcUtil EaUtil LdsUtil ValuIops MfmaFlops TOTAL_16_OPS TOTAL_32_OPS TOTAL_64_OPS"

const char *kr_counter_set_names(enum kr_counter_set set)
{
    switch (set) {
    case KR_SET_NONE:
        return NULL;
    case KR_SET_BASIC:
        return BASIC;
    case KR_SET_COMPUTE:
        return COMPUTE;
    case KR_SET_MEMORY:
        return MEMORY;
    case KR_SET_FULL:
        return BASIC " " COMPUTE " " MEMORY " " UNITS;
    }
    return NULL;
}
