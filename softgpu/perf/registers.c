// SPDX-License-Identifier: MIT
// The counter blocks as const tables, and the look-up from a register address to its meaning.
#include "softgpu/perf/registers.h"

#include "softgpu/isa/isa.h"

#include <stddef.h>

// The SQ's select registers are consecutive, its results are LO/HI pairs. The two GRBM results are three
// apart.
const struct sg_perf_block sg_perf_blocks[SG_BLOCK_COUNT] = {
    [SG_BLOCK_SQ] =
        {
            .name = "SQ",
            .slots = SG_SQ_SLOTS,
            .engines = SG_SHADER_ENGINES,
            .event_mask = 0x1ff,
            .select_bits = 0x0f0ff000,
            .select = {0xd9c0, 0xd9c1, 0xd9c2, 0xd9c3, 0xd9c4, 0xd9c5, 0xd9c6, 0xd9c7},
            .result_lo = {0xd1c0, 0xd1c2, 0xd1c4, 0xd1c6, 0xd1c8, 0xd1ca, 0xd1cc, 0xd1ce},
        },
    [SG_BLOCK_GRBM] =
        {
            .name = "GRBM",
            .slots = SG_GRBM_SLOTS,
            .engines = 1,
            .event_mask = 0x3f,
            .select_bits = 0,
            .select = {0xd840, 0xd841},
            .result_lo = {0xd040, 0xd043},
        },
};

static const struct {
    uint32_t address;
    enum sg_perf_reg_kind kind;
} control_regs[] = {
    {SG_REG_GRBM_GFX_INDEX, SG_REG_KIND_GFX_INDEX},       {SG_REG_CP_PERFMON_CNTL, SG_REG_KIND_PERFMON_CNTL},
    {SG_REG_SQ_PERFCOUNTER_CTRL, SG_REG_KIND_SQ_CTRL},    {SG_REG_SQ_PERFCOUNTER_MASK, SG_REG_KIND_SQ_MASK},
    {SG_REG_RLC_PERFMON_CLK_CNTL, SG_REG_KIND_RLC_CLOCK},
};

static enum sg_perf_reg_kind kind_in_slot(const struct sg_perf_block *block, uint32_t slot, uint32_t address)
{
    if (address == block->select[slot])
        return SG_REG_KIND_SELECT;
    if (address == block->result_lo[slot])
        return SG_REG_KIND_RESULT_LO;
    if (address == block->result_lo[slot] + 1)
        return SG_REG_KIND_RESULT_HI;
    return SG_REG_KIND_NONE;
}

struct sg_perf_reg sg_perf_reg_decode(uint32_t address)
{
    struct sg_perf_reg reg = {.kind = SG_REG_KIND_NONE};

    for (size_t i = 0; i < sizeof(control_regs) / sizeof(control_regs[0]); i++) {
        if (control_regs[i].address == address) {
            reg.kind = control_regs[i].kind;
            return reg;
        }
    }
    for (unsigned b = 0; b < SG_BLOCK_COUNT; b++) {
        for (uint32_t slot = 0; slot < sg_perf_blocks[b].slots; slot++) {
            reg.kind = kind_in_slot(&sg_perf_blocks[b], slot, address);
            if (reg.kind != SG_REG_KIND_NONE) {
                reg.block = (enum sg_perf_block_id)b;
                reg.slot = slot;
                return reg;
            }
        }
    }
    return reg;
}
