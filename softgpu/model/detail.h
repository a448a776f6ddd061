// SPDX-License-Identifier: MIT
// What the model saw in one dispatch, as plain sums: one record for each shader engine with its compute unit, one for
// each channel of the L2. docs/counters.md says how each is found. Cycles are core clocks unless a name says quads.
#ifndef SG_MODEL_DETAIL_H
#define SG_MODEL_DETAIL_H

#include "softgpu/isa/isa.h"

#include <stdint.h>

#define SG_L2_CHANNELS 32

// Vector ALU instructions by what they compute. SG_VALU_NONE: moves, compares of floats and the like.
enum sg_valu_kind {
    SG_VALU_NONE,
    SG_VALU_ADD_F16,
    SG_VALU_MUL_F16,
    SG_VALU_FMA_F16,
    SG_VALU_TRANS_F16,
    SG_VALU_ADD_F32,
    SG_VALU_MUL_F32,
    SG_VALU_FMA_F32,
    SG_VALU_TRANS_F32,
    SG_VALU_ADD_F64,
    SG_VALU_MUL_F64,
    SG_VALU_FMA_F64,
    SG_VALU_TRANS_F64,
    SG_VALU_INT32,
    SG_VALU_INT64,
    SG_VALU_CVT,
    SG_VALU_MFMA_I8,
    SG_VALU_MFMA_F16,
    SG_VALU_MFMA_BF16,
    SG_VALU_MFMA_F32,
    SG_VALU_MFMA_F64,
    SG_VALU_KINDS
};

// Where an instruction is issued to.
enum sg_port {
    SG_PORT_VALU,
    SG_PORT_SALU,
    SG_PORT_SMEM,
    SG_PORT_VMEM, // MUBUF, MTBUF, MIMG
    SG_PORT_FLAT, // FLAT, GLOBAL, SCRATCH
    SG_PORT_LDS,
    SG_PORT_GDS,
    SG_PORT_MISC, // branches and messages
    SG_PORT_NONE, // waits, barriers, ends: issued to no unit
    SG_PORTS
};

enum sg_access { SG_ACCESS_READ, SG_ACCESS_WRITE, SG_ACCESS_ATOMIC, SG_ACCESS_ATOMIC_RETURN, SG_ACCESSES };

struct sg_cu_detail {
    // Instructions and waves.
    uint64_t insts, smem_norm, valu[SG_VALU_KINDS],
        mfma_ops[SG_VALU_KINDS]; // ops: multiplications and additions
    uint64_t waves, items, waves_eq_64, waves_lt_64, waves_lt_48, waves_lt_32, waves_lt_16;
    uint64_t user_sgpr_writes, vgpr_writes; // initialised registers of waves

    // Issue, by port; and of vector memory by direction.
    uint64_t issue[SG_PORTS], issue_vmem_rd, issue_vmem_wr, thread_quads_valu, mfma_cycles;

    // LDS.
    uint64_t lds_cycles, lds_bank_conflict, lds_addr_conflict, lds_atomic_return, lds_unaligned,
        lds_violations;

    // Scalar and instruction caches.
    uint64_t dcache_req, dcache_hits, dcache_atomic, dcache_read[5]; // of 1, 2, 4, 8, 16 dwords
    uint64_t icache_req, icache_hits;
    uint64_t sqc_tc_inst, sqc_tc_read, sqc_tc_write, sqc_tc_atomic;

    // Instructions in flight, summed over cycles.
    uint64_t level_vmem, level_lds, level_smem, level_ifetch;

    // Texture address, data and L1 cache, by kind of access. Wavefronts are instructions with an active lane.
    uint64_t ta_buffer[SG_ACCESSES], ta_flat[SG_ACCESSES], td[SG_ACCESSES], td_coalescable;
    uint64_t ta_cycles, ta_buffer_cycles, ta_coalesced_read, ta_coalesced_write;
    uint64_t tcp_accesses[SG_ACCESSES], tcp_lines, tcp_states, tcp_latency, tcp_invalidates;
    uint64_t tcc_requests[SG_ACCESSES], tcc_read_latency, tcc_write_latency;

    // Time. What waves took, each for itself, and waited for; then what the CU made of it.
    uint64_t groups, wave_alone, wait_data, group_alone;
    uint64_t valu_of_simd[4], scalar_of_simd[4];
    uint64_t busy, wave_cycles, wait_issue, wait_issue_lds;
    // Cycles with a work-group that found no room, and why.
    uint64_t no_room, no_room_vgpr, no_room_lds, no_room_wave;
};

struct sg_channel_detail {
    uint64_t requests, streaming, reads, writes, atomics, hits, misses;
    uint64_t evictions, writebacks, writebacks_at_end; // lines; writebacks: of evicted ones
    uint64_t ea_reads, ea_reads_32, ea_writes, ea_writes_64, ea_read_latency, ea_write_latency;
    uint64_t busy, ea_cycles;
};

struct sg_detail {
    struct sg_cu_detail cu[SG_SHADER_ENGINES];
    struct sg_channel_detail channel[SG_L2_CHANNELS];
    uint64_t active, cp_busy, spi_busy, ta_busy, tc_busy, ea_busy; // of the whole GPU
};

#endif
