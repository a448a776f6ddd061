// SPDX-License-Identifier: MIT
// The counter blocks as const tables, and the look-up from a register address to its meaning.
#include "softgpu/perf/registers.h"

#include "softgpu/isa/isa.h"

#include <stddef.h>

// The results of the SPI lie high half first. The two GRBM results are three apart.
// clang-format off
const struct sg_perf_block sg_perf_blocks[SG_BLOCK_COUNT] = {
    [SG_BLOCK_CPC] = {.name = "CPC", .slots = 2, .engines = 1, .instances = 1, .result_hi = 1, .event_mask = 0x3ff,
                      .select = {0xd809, 0xd803}, .result_lo = {0xd006, 0xd004}},
    [SG_BLOCK_CPF] = {.name = "CPF", .slots = 2, .engines = 1, .instances = 1, .result_hi = 1, .event_mask = 0x3ff,
                      .select = {0xd807, 0xd805}, .result_lo = {0xd00a, 0xd008}},
    [SG_BLOCK_GRBM] = {.name = "GRBM", .slots = 2, .engines = 1, .instances = 1, .result_hi = 1, .event_mask = 0x3f,
                       .select = {0xd840, 0xd841}, .result_lo = {0xd040, 0xd043}},
    [SG_BLOCK_SPI] = {.name = "SPI", .slots = 6, .engines = SG_SHADER_ENGINES, .instances = 1, .result_hi = -1,
                      .event_mask = 0x3ff, .select = {0xd980, 0xd981, 0xd982, 0xd983, 0xd988, 0xd989},
                      .result_lo = {0xd181, 0xd183, 0xd185, 0xd187, 0xd189, 0xd18b}},
    [SG_BLOCK_SQ] = {.name = "SQ", .slots = 8, .engines = SG_SHADER_ENGINES, .instances = 1, .result_hi = 1,
                     .event_mask = 0x1ff, .select_bits = 0x0f0ff000,
                     .select = {0xd9c0, 0xd9c1, 0xd9c2, 0xd9c3, 0xd9c4, 0xd9c5, 0xd9c6, 0xd9c7},
                     .result_lo = {0xd1c0, 0xd1c2, 0xd1c4, 0xd1c6, 0xd1c8, 0xd1ca, 0xd1cc, 0xd1ce}},
    [SG_BLOCK_TA] = {.name = "TA", .slots = 2, .engines = SG_SHADER_ENGINES, .instances = 1, .by_instance = true,
                     .result_hi = 1, .event_mask = 0xff, .select = {0xdac0, 0xdac2}, .result_lo = {0xd2c0, 0xd2c2}},
    [SG_BLOCK_TCA] = {.name = "TCA", .slots = 2, .engines = 1, .instances = 32, .by_instance = true, .result_hi = 1,
                      .event_mask = 0x3ff, .select = {0xdb90, 0xdb92}, .result_lo = {0xd390, 0xd392}},
    [SG_BLOCK_TCC] = {.name = "TCC", .slots = 4, .engines = 1, .instances = 32, .by_instance = true, .result_hi = 1,
                      .event_mask = 0x3ff, .select = {0xdb80, 0xdb82, 0xdb84, 0xdb85},
                      .result_lo = {0xd380, 0xd382, 0xd384, 0xd386}},
    [SG_BLOCK_TCP] = {.name = "TCP", .slots = 4, .engines = SG_SHADER_ENGINES, .instances = 1, .by_instance = true,
                      .result_hi = 1, .event_mask = 0x3ff, .select = {0xdb40, 0xdb42, 0xdb44, 0xdb45},
                      .result_lo = {0xd340, 0xd342, 0xd344, 0xd346}},
    [SG_BLOCK_TD] = {.name = "TD", .slots = 2, .engines = SG_SHADER_ENGINES, .instances = 1, .by_instance = true,
                     .result_hi = 1, .event_mask = 0xff, .select = {0xdb00, 0xdb02}, .result_lo = {0xd300, 0xd302}},
};
// clang-format on

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
    if (address == block->result_lo[slot] + (uint32_t)block->result_hi)
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
