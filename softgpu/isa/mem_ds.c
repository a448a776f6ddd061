// SPDX-License-Identifier: MIT
// DS: reads, writes and atomics of LDS, and the opcode table. Lane exchange and counters are in
// mem_ds_lane.c. A work-group runs on one thread, so LDS needs no host atomics. Reads past the group's LDS
// give 0, writes there are dropped, and accesses need no alignment (the mode ROCm sets). Source: "AMD
// Instinct MI200 Instruction Set Architecture", chapter "Data Share Operations" and DS instruction list.
#include "softgpu/isa/mem_ds.h"

static enum sg_step past_lds(struct sg_wave *w, const struct sg_inst *inst, uint32_t at, uint64_t lane)
{
    return sg_wave_fault(w, inst, SG_FAULT_LDS, at, "LDS offset %u of %u bytes, lane %u", at,
                         w->group->lds_bytes, (unsigned)lane);
}

// Points every active lane at LDS byte vaddr + offset. Fails only when accesses are checked.
static enum sg_step resolve(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                            uint32_t offset, unsigned bytes)
{
    const struct sg_group *group = w->group;
    const uint32_t *address = w->vgpr[inst->vaddr];
    lanes->mask = sg_exec(w);
    lanes->writeback = 0;
    lanes->bytes = bytes;
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint32_t at = address[lane] + offset;
        if ((uint64_t)at + bytes <= group->lds_bytes)
            lanes->ptr[lane] = group->lds + at;
        else if (sg_checks_access(w))
            return past_lds(w, inst, at, lane);
        else
            sg_lanes_drop(lanes, lane);
    }
    return SG_STEP_OK;
}

// All lanes on and every element, of whole dwords, within LDS? Then accesses need no pointers and no second look.
static bool all_inside(const struct sg_wave *w, const struct sg_inst *inst, uint32_t offset, unsigned bytes)
{
    const uint32_t *address = w->vgpr[inst->vaddr], lds_bytes = w->group->lds_bytes;
    if (!inst->direct || bytes < 4 || sg_exec(w) != UINT64_MAX || lds_bytes < bytes)
        return false;
    uint32_t outside = 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        outside |= address[lane] + offset > lds_bytes - bytes;
    return !outside;
}

// The address register may be among the destinations: a lane's address is read before its values are written.
static inline void read_inside(struct sg_wave *w, const struct sg_inst *inst, uint32_t offset, unsigned dst,
                               unsigned bytes)
{
    const uint32_t *address = w->vgpr[inst->vaddr];
    const uint8_t *lds = w->group->lds;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        uint32_t v[4];
        memcpy(v, lds + (address[lane] + offset), bytes);
        for (unsigned d = 0; d < bytes / 4; d++)
            w->vgpr[dst + d][lane] = v[d];
    }
}

static inline void write_inside(struct sg_wave *w, const struct sg_inst *inst, uint32_t offset, unsigned src)
{
    const uint32_t *address = w->vgpr[inst->vaddr], *from = w->vgpr[src];
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        memcpy(w->group->lds + (address[lane] + offset), &from[lane], 4);
}

// Reads with the width known, so that each becomes a loop of its own. False: another way.
static bool read_straight(struct sg_wave *w, const struct sg_inst *inst, enum sg_mem_kind kind)
{
    const uint32_t offset = (uint32_t)inst->simm;
    if (!all_inside(w, inst, offset, sg_mem_bytes(kind)))
        return false;
    if (kind == SG_MEM_B32)
        read_inside(w, inst, offset, inst->vdst, 4);
    else if (kind == SG_MEM_B64)
        read_inside(w, inst, offset, inst->vdst, 8);
    else if (kind == SG_MEM_B128)
        read_inside(w, inst, offset, inst->vdst, 16);
    else
        return false;
    return true;
}

static enum sg_step no_gds(struct sg_wave *w, const struct sg_inst *inst)
{
    return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "global data share is not implemented");
}

static enum sg_step ds_read(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    struct sg_lanes lanes;
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    if (read_straight(w, inst, kind))
        return SG_STEP_OK;
    const enum sg_step step = resolve(w, inst, &lanes, (uint32_t)inst->simm, sg_mem_bytes(kind));
    if (step)
        return step;
    sg_lanes_load(w, &lanes, inst->vdst, kind);
    return SG_STEP_OK;
}

static enum sg_step ds_write(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    struct sg_lanes lanes;
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    if (kind == SG_MEM_B32 && all_inside(w, inst, (uint32_t)inst->simm, 4)) {
        write_inside(w, inst, (uint32_t)inst->simm, inst->vdata);
        return SG_STEP_OK;
    }
    const enum sg_step step = resolve(w, inst, &lanes, (uint32_t)inst->simm, sg_mem_bytes(kind));
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata, kind);
    return SG_STEP_OK;
}

// The two-address forms count offsets in elements, or in 64 elements. arg: kind, or'ed with this.
#define STRIDE64 0x80

static uint32_t pair_unit(const struct sg_inst *inst, enum sg_mem_kind *kind)
{
    *kind = (enum sg_mem_kind)(inst->info->arg & ~STRIDE64);
    return sg_mem_bytes(*kind) * (inst->info->arg & STRIDE64 ? 64 : 1);
}

static enum sg_step ds_read2(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    enum sg_mem_kind kind;
    const uint32_t unit = pair_unit(inst, &kind);
    const unsigned bytes = sg_mem_bytes(kind);
    if (kind == SG_MEM_B32 && inst->vdst != inst->vaddr && all_inside(w, inst, inst->offset0 * unit, 4) &&
        all_inside(w, inst, inst->offset1 * unit, 4)) {
        read_inside(w, inst, inst->offset0 * unit, inst->vdst, 4);
        read_inside(w, inst, inst->offset1 * unit, inst->vdst + 1, 4);
        return SG_STEP_OK;
    }
    struct sg_lanes first, second;
    // Both addresses first: the destination may be the address register.
    enum sg_step step = resolve(w, inst, &first, inst->offset0 * unit, bytes);
    if (step)
        return step;
    step = resolve(w, inst, &second, inst->offset1 * unit, bytes);
    if (step)
        return step;
    sg_lanes_load(w, &first, inst->vdst, kind);
    sg_lanes_load(w, &second, inst->vdst + bytes / 4, kind);
    return SG_STEP_OK;
}

static enum sg_step ds_write2(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    enum sg_mem_kind kind;
    const uint32_t unit = pair_unit(inst, &kind);
    struct sg_lanes lanes;
    enum sg_step step = resolve(w, inst, &lanes, inst->offset0 * unit, sg_mem_bytes(kind));
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata, kind);
    step = resolve(w, inst, &lanes, inst->offset1 * unit, sg_mem_bytes(kind));
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata2, kind);
    return SG_STEP_OK;
}

static uint64_t operand64(const struct sg_wave *w, unsigned row, unsigned lane)
{
    return (uint64_t)w->vgpr[row + 1][lane] << 32 | w->vgpr[row][lane];
}

// One lane of a read-modify-write on LDS. Compare-and-store has the value to compare with in data0, the new
// one in data1; all others have their operand in data0.
static void rmw_lane(struct sg_wave *w, const struct sg_inst *inst, uint8_t *p, unsigned lane, unsigned dst)
{
    const enum sg_atomic_op op = (enum sg_atomic_op)(inst->info->arg & ~SG_ATOMIC_64);
    const bool compare = op == SG_ATOMIC_CMPSWAP || op == SG_ATOMIC_FCMPSWAP;
    const unsigned data = compare ? inst->vdata2 : inst->vdata, cmp = compare ? inst->vdata : inst->vdata2;
    const bool returns = inst->info->flags & SG_OP_RETURN;
    if (inst->info->arg & SG_ATOMIC_64) {
        uint64_t old;
        memcpy(&old, p, 8);
        const uint64_t now = sg_combine64(op, old, operand64(w, data, lane), operand64(w, cmp, lane));
        memcpy(p, &now, 8);
        if (returns) {
            w->vgpr[dst][lane] = (uint32_t)old;
            w->vgpr[dst + 1][lane] = (uint32_t)(old >> 32);
        }
        return;
    }
    const bool flush = !(w->mode & SG_MODE_DENORM32);
    uint32_t old;
    memcpy(&old, p, 4);
    const uint32_t now = sg_combine32(op, old, w->vgpr[data][lane], w->vgpr[cmp][lane], flush);
    memcpy(p, &now, 4);
    if (returns)
        w->vgpr[dst][lane] = old;
}

static enum sg_step ds_rmw(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    struct sg_lanes lanes;
    const enum sg_step step =
        resolve(w, inst, &lanes, (uint32_t)inst->simm, inst->info->arg & SG_ATOMIC_64 ? 8 : 4);
    if (step)
        return step;
    SG_EACH_LANE(lane, lanes.mask) rmw_lane(w, inst, lanes.ptr[lane], lane, inst->vdst);
    return SG_STEP_OK;
}

// ds_wrxchg2: exchanges data0 at offset0 and data1 at offset1. arg as for read2.
static enum sg_step ds_exchange2(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    enum sg_mem_kind kind;
    const uint32_t unit = pair_unit(inst, &kind);
    const unsigned bytes = sg_mem_bytes(kind), dwords = bytes / 4;
    struct sg_lanes first, second;
    enum sg_step step = resolve(w, inst, &first, inst->offset0 * unit, bytes);
    if (step)
        return step;
    step = resolve(w, inst, &second, inst->offset1 * unit, bytes);
    if (step)
        return step;
    SG_EACH_LANE(lane, first.mask)
    {
        uint32_t data[2][2], old[2][2];
        for (unsigned d = 0; d < dwords; d++) {
            data[0][d] = w->vgpr[inst->vdata + d][lane];
            data[1][d] = w->vgpr[inst->vdata2 + d][lane];
        }
        memcpy(old[0], first.ptr[lane], bytes);
        memcpy(first.ptr[lane], data[0], bytes);
        memcpy(old[1], second.ptr[lane], bytes);
        memcpy(second.ptr[lane], data[1], bytes);
        for (unsigned d = 0; d < dwords; d++) {
            w->vgpr[inst->vdst + d][lane] = old[0][d];
            w->vgpr[inst->vdst + dwords + d][lane] = old[1][d];
        }
    }
    return SG_STEP_OK;
}

// The forms without an address register: LDS[M0[15:0] + offset + 4 * lane].
static enum sg_step resolve_tid(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes)
{
    lanes->mask = sg_exec(w);
    lanes->writeback = 0;
    lanes->bytes = 4;
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint32_t at = (w->sgpr[SG_SGPR_M0] & 0xffff) + (uint32_t)inst->simm + 4 * (uint32_t)lane;
        if ((uint64_t)at + 4 <= w->group->lds_bytes)
            lanes->ptr[lane] = w->group->lds + at;
        else if (sg_checks_access(w))
            return past_lds(w, inst, at, lane);
        else
            sg_lanes_drop(lanes, lane);
    }
    return SG_STEP_OK;
}

static enum sg_step ds_read_tid(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    struct sg_lanes lanes;
    const enum sg_step step = resolve_tid(w, inst, &lanes);
    if (step)
        return step;
    sg_lanes_load(w, &lanes, inst->vdst, SG_MEM_B32);
    return SG_STEP_OK;
}

static enum sg_step ds_write_tid(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->gds)
        return no_gds(w, inst);
    struct sg_lanes lanes;
    const enum sg_step step = resolve_tid(w, inst, &lanes);
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata, SG_MEM_B32);
    return SG_STEP_OK;
}

// Widths: destination, address, data0, data1.
#define ROW(op, n, fn, dst, a, d0, d1, argument, flag)                                                       \
    {                                                                                                        \
        .opcode = op, .encoding = SG_ENC_DS, .klass = SG_CLASS_LDS, .mnemonic = n, .exec = fn,               \
        .dst_dwords = dst, .src_dwords = {a, d0, d1}, .arg = argument, .flags = flag                         \
    }
#define GWS(op, n, fn, a, argument)                                                                          \
    {                                                                                                        \
        .opcode = op, .encoding = SG_ENC_DS, .klass = SG_CLASS_GDS, .mnemonic = n, .exec = fn,               \
        .src_dwords = {0, a, 0}, .arg = argument                                                             \
    }
#define A64(op) (SG_ATOMIC_##op | SG_ATOMIC_64)
#define A32(op) SG_ATOMIC_##op
#define RTN     SG_OP_RETURN

static const struct sg_opinfo ds_rows[] = {
    ROW(0, "ds_add_u32", ds_rmw, 0, 1, 1, 0, A32(ADD), 0),
    ROW(1, "ds_sub_u32", ds_rmw, 0, 1, 1, 0, A32(SUB), 0),
    ROW(2, "ds_rsub_u32", ds_rmw, 0, 1, 1, 0, A32(RSUB), 0),
    ROW(3, "ds_inc_u32", ds_rmw, 0, 1, 1, 0, A32(INC), 0),
    ROW(4, "ds_dec_u32", ds_rmw, 0, 1, 1, 0, A32(DEC), 0),
    ROW(5, "ds_min_i32", ds_rmw, 0, 1, 1, 0, A32(SMIN), 0),
    ROW(6, "ds_max_i32", ds_rmw, 0, 1, 1, 0, A32(SMAX), 0),
    ROW(7, "ds_min_u32", ds_rmw, 0, 1, 1, 0, A32(UMIN), 0),
    ROW(8, "ds_max_u32", ds_rmw, 0, 1, 1, 0, A32(UMAX), 0),
    ROW(9, "ds_and_b32", ds_rmw, 0, 1, 1, 0, A32(AND), 0),
    ROW(10, "ds_or_b32", ds_rmw, 0, 1, 1, 0, A32(OR), 0),
    ROW(11, "ds_xor_b32", ds_rmw, 0, 1, 1, 0, A32(XOR), 0),
    ROW(12, "ds_mskor_b32", ds_rmw, 0, 1, 1, 1, A32(MSKOR), 0),
    ROW(13, "ds_write_b32", ds_write, 0, 1, 1, 0, SG_MEM_B32, 0),
    ROW(14, "ds_write2_b32", ds_write2, 0, 1, 1, 1, SG_MEM_B32, 0),
    ROW(15, "ds_write2st64_b32", ds_write2, 0, 1, 1, 1, SG_MEM_B32 | STRIDE64, 0),
    ROW(16, "ds_cmpst_b32", ds_rmw, 0, 1, 1, 1, A32(CMPSWAP), 0),
    ROW(17, "ds_cmpst_f32", ds_rmw, 0, 1, 1, 1, A32(FCMPSWAP), 0),
    ROW(18, "ds_min_f32", ds_rmw, 0, 1, 1, 0, A32(FMIN), 0),
    ROW(19, "ds_max_f32", ds_rmw, 0, 1, 1, 0, A32(FMAX), 0),
    ROW(20, "ds_nop", sg_ds_nop, 0, 0, 0, 0, 0, 0),
    ROW(21, "ds_add_f32", ds_rmw, 0, 1, 1, 0, A32(FADD), 0),
    ROW(29, "ds_write_addtid_b32", ds_write_tid, 0, 0, 1, 0, 0, 0),
    ROW(30, "ds_write_b8", ds_write, 0, 1, 1, 0, SG_MEM_U8, 0),
    ROW(31, "ds_write_b16", ds_write, 0, 1, 1, 0, SG_MEM_U16, 0),
    ROW(32, "ds_add_rtn_u32", ds_rmw, 1, 1, 1, 0, A32(ADD), RTN),
    ROW(33, "ds_sub_rtn_u32", ds_rmw, 1, 1, 1, 0, A32(SUB), RTN),
    ROW(34, "ds_rsub_rtn_u32", ds_rmw, 1, 1, 1, 0, A32(RSUB), RTN),
    ROW(35, "ds_inc_rtn_u32", ds_rmw, 1, 1, 1, 0, A32(INC), RTN),
    ROW(36, "ds_dec_rtn_u32", ds_rmw, 1, 1, 1, 0, A32(DEC), RTN),
    ROW(37, "ds_min_rtn_i32", ds_rmw, 1, 1, 1, 0, A32(SMIN), RTN),
    ROW(38, "ds_max_rtn_i32", ds_rmw, 1, 1, 1, 0, A32(SMAX), RTN),
    ROW(39, "ds_min_rtn_u32", ds_rmw, 1, 1, 1, 0, A32(UMIN), RTN),
    ROW(40, "ds_max_rtn_u32", ds_rmw, 1, 1, 1, 0, A32(UMAX), RTN),
    ROW(41, "ds_and_rtn_b32", ds_rmw, 1, 1, 1, 0, A32(AND), RTN),
    ROW(42, "ds_or_rtn_b32", ds_rmw, 1, 1, 1, 0, A32(OR), RTN),
    ROW(43, "ds_xor_rtn_b32", ds_rmw, 1, 1, 1, 0, A32(XOR), RTN),
    ROW(44, "ds_mskor_rtn_b32", ds_rmw, 1, 1, 1, 1, A32(MSKOR), RTN),
    ROW(45, "ds_wrxchg_rtn_b32", ds_rmw, 1, 1, 1, 0, A32(SWAP), RTN),
    ROW(46, "ds_wrxchg2_rtn_b32", ds_exchange2, 2, 1, 1, 1, SG_MEM_B32, RTN),
    ROW(47, "ds_wrxchg2st64_rtn_b32", ds_exchange2, 2, 1, 1, 1, SG_MEM_B32 | STRIDE64, RTN),
    ROW(48, "ds_cmpst_rtn_b32", ds_rmw, 1, 1, 1, 1, A32(CMPSWAP), RTN),
    ROW(49, "ds_cmpst_rtn_f32", ds_rmw, 1, 1, 1, 1, A32(FCMPSWAP), RTN),
    ROW(50, "ds_min_rtn_f32", ds_rmw, 1, 1, 1, 0, A32(FMIN), RTN),
    ROW(51, "ds_max_rtn_f32", ds_rmw, 1, 1, 1, 0, A32(FMAX), RTN),
    ROW(52, "ds_wrap_rtn_b32", ds_rmw, 1, 1, 1, 1, A32(WRAP), RTN),
    ROW(53, "ds_add_rtn_f32", ds_rmw, 1, 1, 1, 0, A32(FADD), RTN),
    ROW(54, "ds_read_b32", ds_read, 1, 1, 0, 0, SG_MEM_B32, 0),
    ROW(55, "ds_read2_b32", ds_read2, 2, 1, 0, 0, SG_MEM_B32, 0),
    ROW(56, "ds_read2st64_b32", ds_read2, 2, 1, 0, 0, SG_MEM_B32 | STRIDE64, 0),
    ROW(57, "ds_read_i8", ds_read, 1, 1, 0, 0, SG_MEM_I8, 0),
    ROW(58, "ds_read_u8", ds_read, 1, 1, 0, 0, SG_MEM_U8, 0),
    ROW(59, "ds_read_i16", ds_read, 1, 1, 0, 0, SG_MEM_I16, 0),
    ROW(60, "ds_read_u16", ds_read, 1, 1, 0, 0, SG_MEM_U16, 0),
    ROW(61, "ds_swizzle_b32", sg_ds_swizzle, 1, 1, 0, 0, 0, 0),
    ROW(62, "ds_permute_b32", sg_ds_permute, 1, 1, 1, 0, 0, 0),
    ROW(63, "ds_bpermute_b32", sg_ds_bpermute, 1, 1, 1, 0, 0, 0),
    ROW(64, "ds_add_u64", ds_rmw, 0, 1, 2, 0, A64(ADD), 0),
    ROW(65, "ds_sub_u64", ds_rmw, 0, 1, 2, 0, A64(SUB), 0),
    ROW(66, "ds_rsub_u64", ds_rmw, 0, 1, 2, 0, A64(RSUB), 0),
    ROW(67, "ds_inc_u64", ds_rmw, 0, 1, 2, 0, A64(INC), 0),
    ROW(68, "ds_dec_u64", ds_rmw, 0, 1, 2, 0, A64(DEC), 0),
    ROW(69, "ds_min_i64", ds_rmw, 0, 1, 2, 0, A64(SMIN), 0),
    ROW(70, "ds_max_i64", ds_rmw, 0, 1, 2, 0, A64(SMAX), 0),
    ROW(71, "ds_min_u64", ds_rmw, 0, 1, 2, 0, A64(UMIN), 0),
    ROW(72, "ds_max_u64", ds_rmw, 0, 1, 2, 0, A64(UMAX), 0),
    ROW(73, "ds_and_b64", ds_rmw, 0, 1, 2, 0, A64(AND), 0),
    ROW(74, "ds_or_b64", ds_rmw, 0, 1, 2, 0, A64(OR), 0),
    ROW(75, "ds_xor_b64", ds_rmw, 0, 1, 2, 0, A64(XOR), 0),
    ROW(76, "ds_mskor_b64", ds_rmw, 0, 1, 2, 2, A64(MSKOR), 0),
    ROW(77, "ds_write_b64", ds_write, 0, 1, 2, 0, SG_MEM_B64, 0),
    ROW(78, "ds_write2_b64", ds_write2, 0, 1, 2, 2, SG_MEM_B64, 0),
    ROW(79, "ds_write2st64_b64", ds_write2, 0, 1, 2, 2, SG_MEM_B64 | STRIDE64, 0),
    ROW(80, "ds_cmpst_b64", ds_rmw, 0, 1, 2, 2, A64(CMPSWAP), 0),
    ROW(81, "ds_cmpst_f64", ds_rmw, 0, 1, 2, 2, A64(FCMPSWAP), 0),
    ROW(82, "ds_min_f64", ds_rmw, 0, 1, 2, 0, A64(FMIN), 0),
    ROW(83, "ds_max_f64", ds_rmw, 0, 1, 2, 0, A64(FMAX), 0),
    ROW(84, "ds_write_b8_d16_hi", ds_write, 0, 1, 1, 0, SG_MEM_U8_D16_HI, 0),
    ROW(85, "ds_write_b16_d16_hi", ds_write, 0, 1, 1, 0, SG_MEM_B16_D16_HI, 0),
    ROW(86, "ds_read_u8_d16", ds_read, 1, 1, 0, 0, SG_MEM_U8_D16, 0),
    ROW(87, "ds_read_u8_d16_hi", ds_read, 1, 1, 0, 0, SG_MEM_U8_D16_HI, 0),
    ROW(88, "ds_read_i8_d16", ds_read, 1, 1, 0, 0, SG_MEM_I8_D16, 0),
    ROW(89, "ds_read_i8_d16_hi", ds_read, 1, 1, 0, 0, SG_MEM_I8_D16_HI, 0),
    ROW(90, "ds_read_u16_d16", ds_read, 1, 1, 0, 0, SG_MEM_B16_D16, 0),
    ROW(91, "ds_read_u16_d16_hi", ds_read, 1, 1, 0, 0, SG_MEM_B16_D16_HI, 0),
    ROW(92, "ds_add_f64", ds_rmw, 0, 1, 2, 0, A64(FADD), 0),
    ROW(96, "ds_add_rtn_u64", ds_rmw, 2, 1, 2, 0, A64(ADD), RTN),
    ROW(97, "ds_sub_rtn_u64", ds_rmw, 2, 1, 2, 0, A64(SUB), RTN),
    ROW(98, "ds_rsub_rtn_u64", ds_rmw, 2, 1, 2, 0, A64(RSUB), RTN),
    ROW(99, "ds_inc_rtn_u64", ds_rmw, 2, 1, 2, 0, A64(INC), RTN),
    ROW(100, "ds_dec_rtn_u64", ds_rmw, 2, 1, 2, 0, A64(DEC), RTN),
    ROW(101, "ds_min_rtn_i64", ds_rmw, 2, 1, 2, 0, A64(SMIN), RTN),
    ROW(102, "ds_max_rtn_i64", ds_rmw, 2, 1, 2, 0, A64(SMAX), RTN),
    ROW(103, "ds_min_rtn_u64", ds_rmw, 2, 1, 2, 0, A64(UMIN), RTN),
    ROW(104, "ds_max_rtn_u64", ds_rmw, 2, 1, 2, 0, A64(UMAX), RTN),
    ROW(105, "ds_and_rtn_b64", ds_rmw, 2, 1, 2, 0, A64(AND), RTN),
    ROW(106, "ds_or_rtn_b64", ds_rmw, 2, 1, 2, 0, A64(OR), RTN),
    ROW(107, "ds_xor_rtn_b64", ds_rmw, 2, 1, 2, 0, A64(XOR), RTN),
    ROW(108, "ds_mskor_rtn_b64", ds_rmw, 2, 1, 2, 2, A64(MSKOR), RTN),
    ROW(109, "ds_wrxchg_rtn_b64", ds_rmw, 2, 1, 2, 0, A64(SWAP), RTN),
    ROW(110, "ds_wrxchg2_rtn_b64", ds_exchange2, 4, 1, 2, 2, SG_MEM_B64, RTN),
    ROW(111, "ds_wrxchg2st64_rtn_b64", ds_exchange2, 4, 1, 2, 2, SG_MEM_B64 | STRIDE64, RTN),
    ROW(112, "ds_cmpst_rtn_b64", ds_rmw, 2, 1, 2, 2, A64(CMPSWAP), RTN),
    ROW(113, "ds_cmpst_rtn_f64", ds_rmw, 2, 1, 2, 2, A64(FCMPSWAP), RTN),
    ROW(114, "ds_min_rtn_f64", ds_rmw, 2, 1, 2, 0, A64(FMIN), RTN),
    ROW(115, "ds_max_rtn_f64", ds_rmw, 2, 1, 2, 0, A64(FMAX), RTN),
    ROW(118, "ds_read_b64", ds_read, 2, 1, 0, 0, SG_MEM_B64, 0),
    ROW(119, "ds_read2_b64", ds_read2, 4, 1, 0, 0, SG_MEM_B64, 0),
    ROW(120, "ds_read2st64_b64", ds_read2, 4, 1, 0, 0, SG_MEM_B64 | STRIDE64, 0),
    ROW(124, "ds_add_rtn_f64", ds_rmw, 2, 1, 2, 0, A64(FADD), RTN),
    ROW(126, "ds_condxchg32_rtn_b64", ds_rmw, 2, 1, 2, 0, A64(CONDXCHG), RTN),
    GWS(152, "ds_gws_sema_release_all", sg_gws_release_all, 0, 0),
    GWS(153, "ds_gws_init", sg_gws_init, 1, 0),
    GWS(154, "ds_gws_sema_v", sg_gws_sema_v, 0, 0),
    GWS(155, "ds_gws_sema_br", sg_gws_sema_v, 1, 1),
    GWS(156, "ds_gws_sema_p", sg_gws_sema_p, 0, 0),
    GWS(157, "ds_gws_barrier", sg_gws_barrier, 1, 0),
    ROW(182, "ds_read_addtid_b32", ds_read_tid, 1, 0, 0, 0, 0, 0),
    ROW(189, "ds_consume", sg_ds_consume, 1, 0, 0, 0, 0, 0),
    ROW(190, "ds_append", sg_ds_append, 1, 0, 0, 0, 0, 0),
    ROW(222, "ds_write_b96", ds_write, 0, 1, 3, 0, SG_MEM_B96, 0),
    ROW(223, "ds_write_b128", ds_write, 0, 1, 4, 0, SG_MEM_B128, 0),
    ROW(254, "ds_read_b96", ds_read, 3, 1, 0, 0, SG_MEM_B96, 0),
    ROW(255, "ds_read_b128", ds_read, 4, 1, 0, 0, SG_MEM_B128, 0),
};

const struct sg_optable sg_table_ds = SG_TABLE(ds_rows);
