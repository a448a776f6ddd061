// SPDX-License-Identifier: MIT
// SMEM: scalar loads, stores and atomics, time, and cache control (which has nothing to do: nothing is
// cached). Source: "AMD Instinct MI200 Instruction Set Architecture", chapter "Scalar Memory Operations".
#include "softgpu/isa/memory.h"

#define RECORD_NUM(v)    ((v)[2])
#define RECORD_STRIDE(v) ((v)[1] >> 16 & 0x3fff)

// Offset in bytes: the immediate, an SGPR, or both.
static int64_t smem_offset(const struct sg_wave *w, const struct sg_inst *inst)
{
    return (int64_t)inst->simm + sg_scalar32(w, inst, inst->soffset);
}

static bool registers_exist(const struct sg_inst *inst, unsigned dwords)
{
    return inst->sdst + dwords <= SG_SGPR_EXEC + 2;
}

static enum sg_step bad_register(struct sg_wave *w, const struct sg_inst *inst)
{
    return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "scalar data register s%u out of range", inst->sdst);
}

static uint8_t *plain_address(const struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t address = sg_sgpr64(w, inst->src[0]) + (uint64_t)smem_offset(w, inst);
    return (uint8_t *)(uintptr_t)(address & ~UINT64_C(3));
}

static enum sg_step check(struct sg_wave *w, const struct sg_inst *inst, const uint8_t *p, uint64_t bytes)
{
    return bytes && sg_checks_access(w) ? sg_check_scalar(w, inst, p, bytes) : SG_STEP_OK;
}

// Address of dword 0 of a buffer access; *size becomes the bytes that the buffer has from there on.
static uint8_t *buffer_address(const struct sg_wave *w, const struct sg_inst *inst, uint64_t *size)
{
    const uint32_t *v = &w->sgpr[inst->src[0] & ~3u];
    const uint64_t base = ((uint64_t)(v[1] & 0xffff) << 32 | v[0]) & ~UINT64_C(3);
    const uint64_t bytes = RECORD_STRIDE(v) ? (uint64_t)RECORD_STRIDE(v) * RECORD_NUM(v) : RECORD_NUM(v);
    const uint64_t offset = (uint64_t)smem_offset(w, inst) & ~UINT64_C(3);
    *size = offset < bytes ? bytes - offset : 0;
    return (uint8_t *)(uintptr_t)(base + offset);
}

static enum sg_step s_load(struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned dwords = inst->info->arg;
    if (!registers_exist(inst, dwords))
        return bad_register(w, inst);
    uint32_t data[16];
    const uint8_t *p = plain_address(w, inst);
    const enum sg_step step = check(w, inst, p, 4 * (uint64_t)dwords);
    if (step)
        return step;
    memcpy(data, p, 4 * (size_t)dwords);
    memcpy(&w->sgpr[inst->sdst], data, 4 * (size_t)dwords);
    return SG_STEP_OK;
}

static enum sg_step s_store(struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned dwords = inst->info->arg;
    if (!registers_exist(inst, dwords))
        return bad_register(w, inst);
    uint8_t *p = plain_address(w, inst);
    const enum sg_step step = check(w, inst, p, 4 * (uint64_t)dwords);
    if (step)
        return step;
    memcpy(p, &w->sgpr[inst->sdst], 4 * (size_t)dwords);
    return SG_STEP_OK;
}

static enum sg_step s_buffer_load(struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned dwords = inst->info->arg;
    if (!registers_exist(inst, dwords))
        return bad_register(w, inst);
    uint64_t size;
    const uint8_t *p = buffer_address(w, inst, &size);
    const enum sg_step step =
        check(w, inst, p, size < 4 * dwords ? size & ~UINT64_C(3) : 4 * (uint64_t)dwords);
    if (step)
        return step;
    uint32_t data[16] = {0};
    for (unsigned d = 0; d < dwords && 4 * (d + 1) <= size; d++)
        memcpy(&data[d], p + 4 * (size_t)d, 4);
    memcpy(&w->sgpr[inst->sdst], data, 4 * (size_t)dwords);
    return SG_STEP_OK;
}

static enum sg_step s_buffer_store(struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned dwords = inst->info->arg;
    if (!registers_exist(inst, dwords))
        return bad_register(w, inst);
    uint64_t size;
    uint8_t *p = buffer_address(w, inst, &size);
    const enum sg_step step =
        check(w, inst, p, size < 4 * dwords ? size & ~UINT64_C(3) : 4 * (uint64_t)dwords);
    if (step)
        return step;
    for (unsigned d = 0; d < dwords && 4 * (d + 1) <= size; d++)
        memcpy(p + 4 * (size_t)d, &w->sgpr[inst->sdst + d], 4);
    return SG_STEP_OK;
}

static enum sg_step scalar_atomic(struct sg_wave *w, const struct sg_inst *inst, uint8_t *p)
{
    const bool wide = inst->info->arg & SG_ATOMIC_64;
    const enum sg_atomic_op op = (enum sg_atomic_op)(inst->info->arg & ~SG_ATOMIC_64);
    if (!registers_exist(inst, inst->info->src_dwords[1]))
        return bad_register(w, inst);
    if ((uintptr_t)p & (wide ? 7 : 3))
        return sg_wave_fault(w, inst, SG_FAULT_MEMORY, (uintptr_t)p, "atomic on misaligned address");
    const enum sg_step step = check(w, inst, p, wide ? 8 : 4);
    if (step)
        return step;
    if (wide) {
        const uint64_t cmp = op == SG_ATOMIC_CMPSWAP ? sg_sgpr64(w, inst->sdst + 2) : 0;
        const uint64_t old = sg_atomic64(op, (uint64_t *)(void *)p, sg_sgpr64(w, inst->sdst), cmp);
        if (inst->glc)
            sg_set_sgpr64(w, inst->sdst, old);
        return SG_STEP_OK;
    }
    const uint32_t cmp = op == SG_ATOMIC_CMPSWAP ? w->sgpr[inst->sdst + 1] : 0;
    const uint32_t old = sg_atomic32(op, (uint32_t *)(void *)p, w->sgpr[inst->sdst], cmp);
    if (inst->glc)
        w->sgpr[inst->sdst] = old;
    return SG_STEP_OK;
}

static enum sg_step s_atomic(struct sg_wave *w, const struct sg_inst *inst)
{
    return scalar_atomic(w, inst, plain_address(w, inst));
}

static enum sg_step s_buffer_atomic(struct sg_wave *w, const struct sg_inst *inst)
{
    uint64_t size;
    uint8_t *p = buffer_address(w, inst, &size);
    if (size >= (inst->info->arg & SG_ATOMIC_64 ? 8 : 4))
        return scalar_atomic(w, inst, p);
    if (!registers_exist(inst, inst->info->src_dwords[1]))
        return bad_register(w, inst);
    if (inst->glc)
        memset(&w->sgpr[inst->sdst], 0, 4 * (size_t)inst->info->dst_dwords);
    return SG_STEP_OK;
}

// arg: ticks for each of the launch's clock. s_memtime counts core clocks.
static enum sg_step s_time(struct sg_wave *w, const struct sg_inst *inst)
{
    if (!registers_exist(inst, 2))
        return bad_register(w, inst);
    const struct sg_launch *launch = w->group->launch;
    sg_set_sgpr64(w, inst->sdst, launch->clock(launch->ctx) * inst->info->arg);
    return SG_STEP_OK;
}

static enum sg_step s_cache(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)w, (void)inst;
    return SG_STEP_OK;
}

#define ROW(op, n, fn, dst, data, argument)                                                                  \
    SG_MEM_ROW(SG_ENC_SMEM, SG_CLASS_SMEM, op, n, fn, dst, 2, data, argument)
#define ATOMICS(first, p, s, fn, wide, n)                                                                    \
    ROW(first, p "_swap" s, fn, n, n, SG_ATOMIC_SWAP | wide),                                                \
        ROW(first + 1, p "_cmpswap" s, fn, n, 2 * n, SG_ATOMIC_CMPSWAP | wide),                              \
        ROW(first + 2, p "_add" s, fn, n, n, SG_ATOMIC_ADD | wide),                                          \
        ROW(first + 3, p "_sub" s, fn, n, n, SG_ATOMIC_SUB | wide),                                          \
        ROW(first + 4, p "_smin" s, fn, n, n, SG_ATOMIC_SMIN | wide),                                        \
        ROW(first + 5, p "_umin" s, fn, n, n, SG_ATOMIC_UMIN | wide),                                        \
        ROW(first + 6, p "_smax" s, fn, n, n, SG_ATOMIC_SMAX | wide),                                        \
        ROW(first + 7, p "_umax" s, fn, n, n, SG_ATOMIC_UMAX | wide),                                        \
        ROW(first + 8, p "_and" s, fn, n, n, SG_ATOMIC_AND | wide),                                          \
        ROW(first + 9, p "_or" s, fn, n, n, SG_ATOMIC_OR | wide),                                            \
        ROW(first + 10, p "_xor" s, fn, n, n, SG_ATOMIC_XOR | wide),                                         \
        ROW(first + 11, p "_inc" s, fn, n, n, SG_ATOMIC_INC | wide),                                         \
        ROW(first + 12, p "_dec" s, fn, n, n, SG_ATOMIC_DEC | wide)

static const struct sg_opinfo smem_rows[] = {
    ROW(0, "s_load_dword", s_load, 1, 0, 1),
    ROW(1, "s_load_dwordx2", s_load, 2, 0, 2),
    ROW(2, "s_load_dwordx4", s_load, 4, 0, 4),
    ROW(3, "s_load_dwordx8", s_load, 8, 0, 8),
    ROW(4, "s_load_dwordx16", s_load, 16, 0, 16),
    ROW(5, "s_scratch_load_dword", NULL, 1, 0, 1),
    ROW(6, "s_scratch_load_dwordx2", NULL, 2, 0, 2),
    ROW(7, "s_scratch_load_dwordx4", NULL, 4, 0, 4),
    ROW(8, "s_buffer_load_dword", s_buffer_load, 1, 0, 1),
    ROW(9, "s_buffer_load_dwordx2", s_buffer_load, 2, 0, 2),
    ROW(10, "s_buffer_load_dwordx4", s_buffer_load, 4, 0, 4),
    ROW(11, "s_buffer_load_dwordx8", s_buffer_load, 8, 0, 8),
    ROW(12, "s_buffer_load_dwordx16", s_buffer_load, 16, 0, 16),
    ROW(16, "s_store_dword", s_store, 0, 1, 1),
    ROW(17, "s_store_dwordx2", s_store, 0, 2, 2),
    ROW(18, "s_store_dwordx4", s_store, 0, 4, 4),
    ROW(21, "s_scratch_store_dword", NULL, 0, 1, 1),
    ROW(22, "s_scratch_store_dwordx2", NULL, 0, 2, 2),
    ROW(23, "s_scratch_store_dwordx4", NULL, 0, 4, 4),
    ROW(24, "s_buffer_store_dword", s_buffer_store, 0, 1, 1),
    ROW(25, "s_buffer_store_dwordx2", s_buffer_store, 0, 2, 2),
    ROW(26, "s_buffer_store_dwordx4", s_buffer_store, 0, 4, 4),
    ROW(32, "s_dcache_inv", s_cache, 0, 0, 0),
    ROW(33, "s_dcache_wb", s_cache, 0, 0, 0),
    ROW(34, "s_dcache_inv_vol", s_cache, 0, 0, 0),
    ROW(35, "s_dcache_wb_vol", s_cache, 0, 0, 0),
    ROW(36, "s_memtime", s_time, 2, 0, SG_CORE_CLOCKS),
    ROW(37, "s_memrealtime", s_time, 2, 0, 1),
    ROW(38, "s_atc_probe", s_cache, 0, 0, 0),
    ROW(39, "s_atc_probe_buffer", s_cache, 0, 0, 0),
    ROW(40, "s_dcache_discard", s_cache, 0, 0, 0),
    ROW(41, "s_dcache_discard_x2", s_cache, 0, 0, 0),
    ATOMICS(64, "s_buffer_atomic", "", s_buffer_atomic, 0, 1),
    ATOMICS(96, "s_buffer_atomic", "_x2", s_buffer_atomic, SG_ATOMIC_64, 2),
    ATOMICS(128, "s_atomic", "", s_atomic, 0, 1),
    ATOMICS(160, "s_atomic", "_x2", s_atomic, SG_ATOMIC_64, 2),
};

const struct sg_optable sg_table_smem = SG_TABLE(smem_rows);
