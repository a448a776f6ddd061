// SPDX-License-Identifier: MIT
// V_MFMA: D = A * B + C on one or several blocks of small matrices spread over the wave, whatever EXEC says.
// Register layouts: "AMD Instinct MI200 Instruction Set Architecture" reference guide, Matrix Arithmetic
// Instructions, and the layout formulas of the "AMD Instinct MI300 Instruction Set Architecture" reference
// guide (dense matrices). Products are accumulated one k after the other with a fused multiply-add; hardware
// does not document its order. With f16 and bf16 operands denormals, in and out, are zeros; with f32 and f64 they are
// not (source: MIOpen documentation, "MI200 MFMA behavior specifics"; PyTorch documentation, "Numerical accuracy").
#include "softgpu/isa/mfma.h"
#include "softgpu/isa/dot.h"
#include "softgpu/isa/operand.h"

enum type { F32, F16, BF16, I8, F64 };

// M x N x K with M = N. `per_lane`: consecutive k of A and B that one lane holds.
struct shape {
    uint8_t opcode, size, k, blocks, per_lane;
    enum type type;
};

static const struct shape shapes[] = {
    {0x40, 32, 1, 2, 1, F32},  {0x41, 16, 1, 4, 1, F32},   {0x42, 4, 1, 16, 1, F32},
    {0x44, 32, 2, 1, 1, F32},  {0x45, 16, 4, 1, 1, F32},   {0x48, 32, 4, 2, 4, F16},
    {0x49, 16, 4, 4, 4, F16},  {0x4a, 4, 4, 16, 4, F16},   {0x4c, 32, 8, 1, 4, F16},
    {0x4d, 16, 16, 1, 4, F16}, {0x50, 32, 4, 2, 4, I8},    {0x51, 16, 4, 4, 4, I8},
    {0x52, 4, 4, 16, 4, I8},   {0x54, 32, 8, 1, 4, I8},    {0x55, 16, 16, 1, 4, I8},
    {0x63, 32, 4, 2, 4, BF16}, {0x64, 16, 4, 4, 4, BF16},  {0x65, 4, 4, 16, 4, BF16},
    {0x66, 32, 8, 1, 4, BF16}, {0x67, 16, 16, 1, 4, BF16}, {0x68, 32, 2, 2, 2, BF16},
    {0x69, 16, 2, 4, 2, BF16}, {0x6b, 4, 2, 16, 2, BF16},  {0x6c, 32, 4, 1, 2, BF16},
    {0x6d, 16, 8, 1, 2, BF16}, {0x6e, 16, 4, 1, 1, F64},   {0x6f, 4, 4, 4, 1, F64},
};

// What the modifier fields say: A of block b is taken from `abid` of its group of 2^cbsz blocks; blgp
// permutes the lanes of B.
struct modifiers {
    unsigned cbsz, abid, blgp;
};

union element {
    float f;
    double d;
    int32_t i;
};

static const struct shape *find_shape(unsigned opcode)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (shapes[i].opcode == opcode)
            return &shapes[i];
    return NULL;
}

static unsigned b_source_lane(unsigned lane, unsigned blgp)
{
    switch (blgp) {
    case 0:
        return lane;
    case 1:
        return lane & 31;
    case 2:
        return lane | 32;
    case 3:
        return (lane + 16) & 63;
    default: // 4..7: one group of 16 lanes to all
        return (lane & 15) | (blgp - 4) << 4;
    }
}

// Dword `d` of source i in a lane: register or constant.
static uint32_t source_dword(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, unsigned d,
                             unsigned lane)
{
    const unsigned src = inst->src[i];
    return src >= SG_SRC_VGPR0 ? w->vgpr[src - SG_SRC_VGPR0 + d][lane] : sg_scalar32(w, inst, src);
}

static uint64_t source_qword(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, unsigned q,
                             unsigned lane)
{
    if (inst->src[i] < SG_SRC_VGPR0)
        return sg_scalar64(w, inst, inst->src[i]);
    return (uint64_t)source_dword(w, inst, i, 2 * q + 1, lane) << 32 | source_dword(w, inst, i, 2 * q, lane);
}

static bool flushes(enum type type)
{
    return type == F16 || type == BF16;
}

// Element e of A (i = 0) or B (i = 1) that a lane holds.
static union element factor(const struct sg_wave *w, const struct sg_inst *inst, enum type type, unsigned i,
                            unsigned e, unsigned lane)
{
    switch (type) {
    case F64:
        return (union element){.d = sg_f64(source_qword(w, inst, i, 0, lane))};
    case I8:
        return (union element){.i = (int8_t)(source_dword(w, inst, i, 0, lane) >> (8 * e))};
    case F16:
        return (union element){.f = sg_f32_from_f16(sg_normal16(
                                   source_dword(w, inst, i, e / 2, lane) >> (16 * (e & 1)) & 0xffff))};
    case BF16:
        return (union element){
            .f = sg_normal32(sg_f32(source_dword(w, inst, i, e / 2, lane) >> (16 * (e & 1)) << 16))};
    default:
        return (union element){.f = sg_f32(source_dword(w, inst, i, 0, lane))};
    }
}

static union element accumulate(enum type type, union element a, union element b, union element c)
{
    if (type == F64)
        return (union element){.d = fma(a.d, b.d, c.d)};
    if (type == I8)
        return (union element){.i = (int32_t)((uint32_t)c.i + (uint32_t)(a.i * b.i))};
    return (union element){.f = sg_fma32(a.f, b.f, c.f)};
}

// Where element (i, j) of block b of C and D lies: the register (in elements) and the lane. Rows come in
// groups of four registers, doubles in groups of one. Where a block has a row in each group of 16 lanes, as the
// 4x4x4 doubles have, blocks lie side by side within the group (source: "AMD Matrix Instruction Calculator").
static void place(const struct shape *s, unsigned i, unsigned j, unsigned b, unsigned *item, unsigned *lane)
{
    const unsigned n = s->size, group = s->type == F64 ? 1 : 4, lanes = n * n / group;
    if (s->type == F64 && s->blocks > 1) {
        *item = 0;
        *lane = j + n * (b + s->blocks * i);
        return;
    }
    const unsigned blocks_across = lanes < 64 ? 64 / lanes : 1;
    const unsigned rows_across = 64 / blocks_across / n, groups = n / (group * rows_across);
    *item = i % group + group * (i / (group * rows_across) + groups * (b / blocks_across));
    *lane = j + n * (i / group % rows_across + rows_across * (b % blocks_across));
}

static union element read_c(const struct sg_wave *w, const struct sg_inst *inst, enum type type,
                            unsigned item, unsigned lane)
{
    if (type == F64)
        return (union element){.d = sg_f64(source_qword(w, inst, 2, item, lane))};
    const uint32_t bits = source_dword(w, inst, 2, item, lane);
    if (type == I8)
        return (union element){.i = (int32_t)bits};
    return (union element){.f = flushes(type) ? sg_normal32(sg_f32(bits)) : sg_f32(bits)};
}

// One element of D in the staging copy `out`, which keeps A, B and C intact where registers overlap.
static void write_d(uint32_t (*out)[SG_LANES], enum type type, unsigned item, unsigned lane, union element v)
{
    if (type != F64) {
        out[item][lane] = type == I8 ? (uint32_t)v.i : sg_bits32(flushes(type) ? sg_normal32(v.f) : v.f);
        return;
    }
    const uint64_t bits = sg_bits64(v.d);
    out[2 * item][lane] = (uint32_t)bits;
    out[2 * item + 1][lane] = (uint32_t)(bits >> 32);
}

enum sg_step sg_mfma(struct sg_wave *w, const struct sg_inst *inst)
{
    const struct shape *s = find_shape(inst->info->opcode);
    if (!s)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "matrix shape is not known");
    const struct modifiers m = {
        .cbsz = inst->words[0] >> 8 & 7, .abid = inst->words[0] >> 11 & 15, .blgp = inst->words[1] >> 29};
    union element a[SG_LANES][4], b[SG_LANES][4];
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        for (unsigned e = 0; e < s->per_lane; e++) {
            a[lane][e] = factor(w, inst, s->type, 0, e, lane);
            b[lane][e] = factor(w, inst, s->type, 1, e, b_source_lane(lane, m.blgp));
        }
    uint32_t out[32][SG_LANES];
    for (unsigned block = 0; block < s->blocks; block++) {
        const unsigned first = block >> m.cbsz << m.cbsz,
                       a_block = m.cbsz ? (first + m.abid) % s->blocks : block;
        for (unsigned i = 0; i < s->size; i++)
            for (unsigned j = 0; j < s->size; j++) {
                unsigned item, lane;
                place(s, i, j, block, &item, &lane);
                union element sum = read_c(w, inst, s->type, item, lane);
                for (unsigned k = 0; k < s->k; k++) {
                    const unsigned step = s->blocks * (k / s->per_lane), e = k % s->per_lane;
                    sum = accumulate(s->type, a[i + s->size * (a_block + step)][e],
                                     b[j + s->size * (block + step)][e], sum);
                }
                write_d(out, s->type, item, lane, sum);
            }
    }
    for (unsigned d = 0; d < inst->info->dst_dwords; d++)
        memcpy(w->vgpr[inst->vdst + d], out[d], sizeof(out[d]));
    return SG_STEP_OK;
}
