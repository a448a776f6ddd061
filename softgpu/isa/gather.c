// SPDX-License-Identifier: MIT
// Gathers 64-lane sources of vector instructions: registers, scalar broadcast, SDWA selection, DPP
// permutation, source modifiers. Source of the lane patterns: "AMD Instinct MI200 Instruction Set
// Architecture", SDWA and DPP.
#include "softgpu/isa/fp.h"
#include "softgpu/isa/operand.h"

unsigned sg_vgpr_src(const struct sg_wave *w, const struct sg_inst *inst, unsigned i)
{
    unsigned n = inst->src[i] - SG_SRC_VGPR0;
    if (n < 256 && sg_gpr_indexed(w, i))
        n = (n + (w->sgpr[SG_SGPR_M0] & 0xff)) & 0xff;
    return n;
}

// Lane that `lane` reads under a DPP control value, or -1 when the pattern has no source for it.
static int dpp_source(unsigned ctrl, int lane)
{
    const int row = lane & ~15, in_row = lane & 15, n = (int)(ctrl & 15);
    if (ctrl < 0x100)
        return (lane & ~3) + (int)(ctrl >> (2 * (lane & 3)) & 3);
    switch (ctrl >> 4) {
    case 0x10: // row_shl
        return in_row + n < 16 ? lane + n : -1;
    case 0x11: // row_shr
        return in_row >= n ? lane - n : -1;
    case 0x12: // row_ror
        return row + ((in_row - n) & 15);
    case 0x15: // row_newbcast
        return row + n;
    default:
        break;
    }
    switch (ctrl) {
    case 0x130: // wave_shl:1
        return lane < 63 ? lane + 1 : -1;
    case 0x134: // wave_rol:1
        return (lane + 1) & 63;
    case 0x138: // wave_shr:1
        return lane - 1;
    case 0x13c: // wave_ror:1
        return (lane - 1) & 63;
    case 0x140: // row_mirror
        return row + 15 - in_row;
    case 0x141: // row_half_mirror
        return row + (in_row ^ 7);
    case 0x142: // row_bcast:15
        return row - 1;
    case 0x143: // row_bcast:31
        return lane >= 32 ? 31 : -1;
    default:
        return -1;
    }
}

// Sources that lie in lanes outside EXEC count as missing, like sources outside the pattern.
static int dpp_valid_source(const struct sg_wave *w, const struct sg_inst *inst, unsigned lane)
{
    const int s = dpp_source(inst->dpp_ctrl, (int)lane);
    return s >= 0 && sg_exec(w) >> s & 1 ? s : -1;
}

uint64_t sg_active(const struct sg_wave *w, const struct sg_inst *inst)
{
    uint64_t mask = sg_exec(w);
    if (inst->mod != SG_MOD_DPP)
        return mask;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const bool on = inst->dpp_row_mask >> (lane >> 4) & 1 && inst->dpp_bank_mask >> (lane >> 2 & 3) & 1;
        if (!on || (!inst->dpp_bound_ctrl && dpp_valid_source(w, inst, lane) < 0))
            mask &= ~(1ull << lane);
    }
    return mask;
}

static const uint32_t *permute(const struct sg_wave *w, const struct sg_inst *inst, const uint32_t *from,
                               uint32_t *buf)
{
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const int s = dpp_valid_source(w, inst, lane);
        buf[lane] = s < 0 ? 0 : from[s];
    }
    return buf;
}

static const uint32_t *select_part(const struct sg_inst *inst, unsigned i, const uint32_t *from,
                                   uint32_t *buf)
{
    const unsigned sel = inst->sdwa_sel[i];
    const bool sext = inst->sdwa_sext >> i & 1;
    if (sel >= 6)
        return from;
    const unsigned shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
    const unsigned up = sel < 4 ? 24 : 16;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const uint32_t v = from[lane] >> shift << up;
        buf[lane] = sext ? (uint32_t)((int32_t)v >> up) : v >> up;
    }
    return buf;
}

const uint32_t *sg_src32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf)
{
    const unsigned src = inst->src[i];
    const uint32_t *from = buf;
    if (src >= SG_SRC_VGPR0) {
        from = w->vgpr[sg_vgpr_src(w, inst, i)];
    } else {
        const uint32_t v = sg_scalar32(w, inst, src);
        for (unsigned lane = 0; lane < SG_LANES; lane++)
            buf[lane] = v;
    }
    if (inst->mod == SG_MOD_NONE)
        return from;
    if (inst->mod == SG_MOD_DPP)
        return i == 0 ? permute(w, inst, from, buf) : from;
    return i < 2 ? select_part(inst, i, from, buf) : from;
}

// abs then neg of source i as an AND mask and an XOR mask on a sign bit.
static void sign_masks(const struct sg_inst *inst, unsigned i, uint64_t sign, uint64_t *and_mask,
                       uint64_t *xor_mask)
{
    *and_mask = inst->abs >> i & 1 ? ~sign : ~0ull;
    *xor_mask = inst->neg >> i & 1 ? sign : 0;
}

const uint32_t *sg_src_look32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf)
{
    const uint32_t *v = sg_src32(w, inst, i, buf);
    if (!((inst->abs | inst->neg) >> i & 1))
        return v;
    uint64_t and_mask, xor_mask;
    sign_masks(inst, i, 0x80000000u, &and_mask, &xor_mask);
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        buf[lane] = (v[lane] & (uint32_t)and_mask) ^ (uint32_t)xor_mask;
    return buf;
}

const uint32_t *sg_src_f32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf)
{
    const uint32_t *v = sg_src_look32(w, inst, i, buf);
    if (w->mode & SG_MODE_DENORM32_IN)
        return v;
    if (v != buf)
        memcpy(buf, v, SG_LANES * sizeof(*buf));
    sg_flush32(buf);
    return buf;
}

const uint32_t *sg_src16(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf)
{
    const uint32_t *v = sg_src32(w, inst, i, buf);
    const unsigned shift = inst->op_sel >> i & 1 ? 16 : 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        buf[lane] = v[lane] >> shift & 0xffff;
    return buf;
}

const uint32_t *sg_src_look16(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf)
{
    sg_src16(w, inst, i, buf);
    uint64_t and_mask, xor_mask;
    sign_masks(inst, i, 0x8000, &and_mask, &xor_mask);
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        buf[lane] = (buf[lane] & (uint32_t)and_mask) ^ (uint32_t)xor_mask;
    return buf;
}

const uint32_t *sg_src_f16(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf)
{
    sg_src_look16(w, inst, i, buf);
    if (!(w->mode & SG_MODE_DENORM64_IN))
        sg_flush16(buf);
    return buf;
}

const uint64_t *sg_src64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint64_t *buf)
{
    const unsigned src = inst->src[i];
    if (src < SG_SRC_VGPR0) {
        const uint64_t v = sg_scalar64(w, inst, src);
        for (unsigned lane = 0; lane < SG_LANES; lane++)
            buf[lane] = v;
        return buf;
    }
    const unsigned n = sg_vgpr_src(w, inst, i);
    const uint32_t *lo = w->vgpr[n], *hi = w->vgpr[n + 1];
    uint32_t lo_buf[SG_LANES], hi_buf[SG_LANES];
    if (inst->mod == SG_MOD_DPP && i == 0) {
        lo = permute(w, inst, lo, lo_buf);
        hi = permute(w, inst, hi, hi_buf);
    }
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        buf[lane] = (uint64_t)hi[lane] << 32 | lo[lane];
    return buf;
}

const uint64_t *sg_src_look64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint64_t *buf)
{
    sg_src64(w, inst, i, buf);
    uint64_t and_mask, xor_mask;
    sign_masks(inst, i, 1ull << 63, &and_mask, &xor_mask);
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        buf[lane] = (buf[lane] & and_mask) ^ xor_mask;
    return buf;
}

const uint64_t *sg_src_f64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint64_t *buf)
{
    sg_src_look64(w, inst, i, buf);
    if (!(w->mode & SG_MODE_DENORM64_IN))
        sg_flush64(buf);
    return buf;
}
