// SPDX-License-Identifier: MIT
// The performance-counter registers of gfx90a that the software GPU has: addresses, fields, and the shape of
// each counter block. Pure constants, shared by the emulated registers (perf.c), the PM4 interpreter and the
// library that writes PM4 (aqlprofile.c), so that writer and reader cannot disagree.
//
// Address space. Registers are numbered in dwords in the GPU's own register space. A UCONFIG register has the
// address 0xc000 + the offset that SET_UCONFIG_REG carries: the select register of SQ slot 0 is offset
// 0x19c0, address 0xd9c0. COPY_DATA and WRITE_DATA name registers by that address directly: the result of SQ
// slot 0 is 0xd1c0. SH registers likewise live at 0x2c00 + the offset of SET_SH_REG. Everything below is such
// an address.
//
// Source: Linux, drivers/gpu/drm/amd/include/asic_reg/gc/gc_9_4_2_offset.h (address blocks gc_perfddec and
// gc_perfsdec; its values count from segment 0xa000, so regSQ_PERFCOUNTER0_LO 0x31c0 is 0xd1c0 here) and
// gc_9_4_2_sh_mask.h for fields.
#ifndef SG_PERF_REGISTERS_H
#define SG_PERF_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

// Ranges that the SET_*_REG packets reach. Source: PACKET3_SET_*_REG_START/END of the Linux amdgpu soc15d.h
// (bytes there).
#define SG_REG_SH_BASE      0x2c00u
#define SG_REG_SH_END       0x3000u
#define SG_REG_UCONFIG_BASE 0xc000u
#define SG_REG_UCONFIG_END  0x10000u

// Results of all counter blocks (gc_perfddec), of which sg_perf_blocks has some.
#define SG_REG_RESULTS_BASE 0xd000u
#define SG_REG_RESULTS_END  0xd800u

#define SG_REG_COMPUTE_PERFCOUNT_ENABLE 0x2e0bu // SH, one per queue
#define SG_REG_GRBM_GFX_INDEX           0xc200u
#define SG_REG_CP_PERFMON_CNTL          0xd808u
#define SG_REG_SQ_PERFCOUNTER_CTRL      0xd9e0u
#define SG_REG_SQ_PERFCOUNTER_MASK      0xd9e1u
#define SG_REG_RLC_PERFMON_CLK_CNTL     0xdcbfu

// GRBM_GFX_INDEX: which instances a register access reaches.
#define SG_GFX_INDEX_INSTANCE(n)        ((uint32_t)(n)&0xffu)
#define SG_GFX_INDEX_INSTANCE_OF(value) ((value)&0xffu)
#define SG_GFX_INDEX_SE(n)              (((uint32_t)(n)&0xffu) << 16)
#define SG_GFX_INDEX_SE_OF(value)       (((value) >> 16) & 0xffu)
#define SG_GFX_INDEX_SH_BROADCAST       0x20000000u
#define SG_GFX_INDEX_INSTANCE_BROADCAST 0x40000000u
#define SG_GFX_INDEX_SE_BROADCAST       0x80000000u
#define SG_GFX_INDEX_BROADCAST                                                                               \
    (SG_GFX_INDEX_SH_BROADCAST | SG_GFX_INDEX_INSTANCE_BROADCAST | SG_GFX_INDEX_SE_BROADCAST)

// CP_PERFMON_CNTL: PERFMON_STATE in bits 3:0, PERFMON_SAMPLE_ENABLE in bit 10.
#define SG_PERFMON_STATE_MASK    0x0fu
#define SG_PERFMON_DISABLE_RESET 0u
#define SG_PERFMON_START         1u
#define SG_PERFMON_STOP          2u
#define SG_PERFMON_SAMPLE        0x400u

// SQ_PERFCOUNTER_CTRL: an enable bit per shader stage and a VMID mask. Only compute exists here.
#define SG_SQ_CTRL_CS_EN 0x40u
#define SG_SQ_CTRL_ALL   0xffff007fu
#define SG_SQ_MASK_ALL   0xffffffffu

// Counter blocks, named as in the counter definitions of ROCm.
enum sg_perf_block_id {
    SG_BLOCK_CPC,
    SG_BLOCK_CPF,
    SG_BLOCK_GRBM,
    SG_BLOCK_SPI,
    SG_BLOCK_SQ,
    SG_BLOCK_TA,
    SG_BLOCK_TCA,
    SG_BLOCK_TCC,
    SG_BLOCK_TCP,
    SG_BLOCK_TD,
    SG_BLOCK_COUNT
};

#define SG_PERF_MAX_SLOTS     8
#define SG_PERF_MAX_INSTANCES 32  // of one block: engines x instances
#define SG_MAX_COUNTERS       220 // slots of all blocks and the instances that a caller tells apart

// Instances: TCC and TCA have 32 on an MI200 die; TA, TD and TCP one for each compute unit, of which this device has
// one in each engine. Slots: as many as AMD's aqlprofile programs on gfx90a.
struct sg_perf_block {
    const char *name;
    uint32_t slots;       // counter registers of one instance
    uint32_t engines;     // shader engines that have instances of their own; 1 = all are the GPU's
    uint32_t instances;   // of an engine, or of the GPU
    bool by_instance;     // GRBM_GFX_INDEX tells instances apart by INSTANCE_INDEX
    int32_t result_hi;    // distance of a result's high half from its low half
    uint32_t event_mask;  // bits of a select register that hold the event number
    uint32_t select_bits; // what else a writer sets in it to count everything (SIMD, bank and client masks of
                          // the SQ)
    uint32_t select[SG_PERF_MAX_SLOTS];
    uint32_t result_lo[SG_PERF_MAX_SLOTS];
};

extern const struct sg_perf_block sg_perf_blocks[SG_BLOCK_COUNT];

enum sg_perf_reg_kind {
    SG_REG_KIND_NONE, // not a register of the counter blocks
    SG_REG_KIND_SELECT,
    SG_REG_KIND_RESULT_LO,
    SG_REG_KIND_RESULT_HI,
    SG_REG_KIND_GFX_INDEX,
    SG_REG_KIND_PERFMON_CNTL,
    SG_REG_KIND_RLC_CLOCK,
    SG_REG_KIND_SQ_CTRL,
    SG_REG_KIND_SQ_MASK,
};

struct sg_perf_reg {
    enum sg_perf_reg_kind kind;
    enum sg_perf_block_id block; // of SELECT and RESULT_*
    uint32_t slot;               // likewise
};

// What the register at `address` is; kind SG_REG_KIND_NONE when it is none of these.
struct sg_perf_reg sg_perf_reg_decode(uint32_t address);

#endif
