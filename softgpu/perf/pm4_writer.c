// SPDX-License-Identifier: MIT
// The three streams of packets. Each step stands in the order in which AMD's library was seen to write it.
#include "softgpu/perf/pm4_writer.h"

#include "softgpu/perf/packets.h"

static void put(struct sg_pm4_writer *writer, uint32_t dword)
{
    if (writer->code)
        writer->code[writer->dwords] = dword;
    writer->dwords++;
}

static void wait_idle(struct sg_pm4_writer *writer)
{
    put(writer, SG_PM4_HEADER3(SG_PM4_EVENT_WRITE, 1));
    put(writer, SG_PM4_EVENT_WAIT_IDLE);
}

static void set_uconfig(struct sg_pm4_writer *writer, uint32_t address, uint32_t value)
{
    put(writer, SG_PM4_HEADER3(SG_PM4_SET_UCONFIG_REG, 2));
    put(writer, address - SG_REG_UCONFIG_BASE);
    put(writer, value);
}

static void set_sh(struct sg_pm4_writer *writer, uint32_t address, uint32_t value)
{
    put(writer, SG_PM4_HEADER3(SG_PM4_SET_SH_REG, 2));
    put(writer, address - SG_REG_SH_BASE);
    put(writer, value);
}

static void copy_register(struct sg_pm4_writer *writer, uint32_t address, uint64_t to)
{
    put(writer, SG_PM4_HEADER3(SG_PM4_COPY_DATA, 5));
    put(writer, SG_PM4_COPY_REG_TO_MEM);
    put(writer, address);
    put(writer, 0);
    put(writer, (uint32_t)to);
    put(writer, (uint32_t)(to >> 32));
}

static void broadcast(struct sg_pm4_writer *writer)
{
    set_uconfig(writer, SG_REG_GRBM_GFX_INDEX, SG_GFX_INDEX_BROADCAST);
}

// One instance of a block that has several, in one engine or all.
static void point_at(struct sg_pm4_writer *writer, const struct sg_armed_counter *counter,
                     uint32_t engine_bits)
{
    const bool by_instance = sg_perf_blocks[counter->block].by_instance;

    set_uconfig(
        writer, SG_REG_GRBM_GFX_INDEX,
        engine_bits | SG_GFX_INDEX_SH_BROADCAST |
            (by_instance ? SG_GFX_INDEX_INSTANCE(counter->instance) : SG_GFX_INDEX_INSTANCE_BROADCAST));
}

void sg_pm4_write_start(struct sg_pm4_writer *writer, const struct sg_armed_counter *counters, size_t count)
{
    wait_idle(writer);
    broadcast(writer);
    set_uconfig(writer, SG_REG_RLC_PERFMON_CLK_CNTL, 1);
    set_uconfig(writer, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_DISABLE_RESET);
    set_uconfig(writer, SG_REG_SQ_PERFCOUNTER_CTRL, SG_SQ_CTRL_ALL);
    set_uconfig(writer, SG_REG_SQ_PERFCOUNTER_MASK, SG_SQ_MASK_ALL);
    for (size_t i = 0; i < count; i++) {
        const struct sg_perf_block *block = &sg_perf_blocks[counters[i].block];
        if (block->by_instance)
            point_at(writer, &counters[i], SG_GFX_INDEX_SE_BROADCAST);
        else if (i > 0 && sg_perf_blocks[counters[i - 1].block].by_instance)
            broadcast(writer);
        set_uconfig(writer, block->select[counters[i].slot], block->select_bits | counters[i].event);
    }
    broadcast(writer);
    set_sh(writer, SG_REG_COMPUTE_PERFCOUNT_ENABLE, 1);
    set_uconfig(writer, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_DISABLE_RESET);
    set_uconfig(writer, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
    wait_idle(writer);
}

void sg_pm4_write_read(struct sg_pm4_writer *writer, const struct sg_armed_counter *counters, size_t count,
                       uint64_t output)
{
    set_uconfig(writer, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START | SG_PERFMON_SAMPLE);
    wait_idle(writer);
    for (size_t i = 0; i < count; i++) {
        const struct sg_perf_block *block = &sg_perf_blocks[counters[i].block];
        uint32_t result = block->result_lo[counters[i].slot];

        for (uint32_t engine = 0; engine < block->engines; engine++, output += sizeof(uint64_t)) {
            point_at(writer, &counters[i],
                     block->engines > 1 ? SG_GFX_INDEX_SE(engine) : SG_GFX_INDEX_SE_BROADCAST);
            copy_register(writer, result, output);
            copy_register(writer, result + (uint32_t)block->result_hi, output + sizeof(uint32_t));
        }
    }
    broadcast(writer);
}

void sg_pm4_write_stop(struct sg_pm4_writer *writer, const struct sg_armed_counter *counters, size_t count,
                       uint64_t output)
{
    sg_pm4_write_read(writer, counters, count, output);
    set_uconfig(writer, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_STOP);
    set_uconfig(writer, SG_REG_RLC_PERFMON_CLK_CNTL, 0);
    wait_idle(writer);
}
