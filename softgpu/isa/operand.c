// SPDX-License-Identifier: MIT
// Scalar operand values, faults, and writing of vector results. Gathering of vector sources is in gather.c.
#include "softgpu/isa/operand.h"
#include "softgpu/isa/fp.h"

#include <stdarg.h>
#include <stdio.h>

// Inline float constants 240..248: 0.5 -0.5 1 -1 2 -2 4 -4 1/(2*pi).
static const uint32_t inline_f32[9] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                       0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint16_t inline_f16[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                       0xc000, 0x4400, 0xc400, 0x3118};
static const uint64_t inline_f64[9] = {
    0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000,
    0xc000000000000000, 0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882,
};

// Inline integers: 128..192 are 0..64, 193..208 are -1..-16.
static bool is_inline_int(unsigned src)
{
    return src >= 128 && src <= 208;
}

static int32_t inline_int(unsigned src)
{
    return src <= 192 ? (int32_t)src - 128 : 192 - (int32_t)src;
}

// Upper half of an aperture's base or limit; the lower half is all zeros or all ones.
static uint32_t aperture_hi(const struct sg_wave *w, unsigned src)
{
    const struct sg_launch *launch = w->group ? w->group->launch : NULL;
    if (!launch)
        return 0;
    return src <= 236 ? launch->shared_aperture_hi : launch->private_aperture_hi;
}

uint32_t sg_scalar32(const struct sg_wave *w, const struct sg_inst *inst, unsigned src)
{
    if (src < 128)
        return w->sgpr[src];
    if (is_inline_int(src))
        return (uint32_t)inline_int(src);
    if (src >= 240 && src <= 248)
        return inst->info->flags & SG_OP_HALF ? inline_f16[src - 240] : inline_f32[src - 240];
    switch (src) {
    case 235: // SRC_SHARED_BASE
    case 236: // SRC_SHARED_LIMIT
    case 237: // SRC_PRIVATE_BASE
    case 238: // SRC_PRIVATE_LIMIT
        return aperture_hi(w, src);
    case 251:
        return sg_sgpr64(w, SG_SGPR_VCC) == 0;
    case 252:
        return sg_exec(w) == 0;
    case 253:
        return w->scc;
    case SG_SRC_LITERAL:
        return inst->literal;
    default:
        return 0; // the decoder lets no other number through but 239, SRC_POPS_EXITING_WAVE_ID
    }
}

uint64_t sg_scalar64(const struct sg_wave *w, const struct sg_inst *inst, unsigned src)
{
    if (src < 127 && src != SG_SGPR_M0)
        return sg_sgpr64(w, src);
    if (is_inline_int(src))
        return (uint64_t)(int64_t)inline_int(src);
    if (src >= 240 && src <= 248)
        return inline_f64[src - 240];
    if (src >= 235 && src <= 238)
        return (uint64_t)aperture_hi(w, src) << 32 | (src == 236 || src == 238 ? 0xffffffffu : 0);
    if (src == SG_SRC_LITERAL && inst->info->flags & SG_OP_DOUBLE)
        return (uint64_t)inst->literal << 32;
    return sg_scalar32(w, inst, src);
}

enum sg_step sg_wave_fault(struct sg_wave *w, const struct sg_inst *inst, enum sg_fault_kind kind,
                           uint64_t address, const char *cause, ...)
{
    struct sg_fault *f = w->fault;
    if (!f)
        return SG_STEP_FAULT;
    char words[48] = "";
    size_t used = 0;
    for (unsigned i = 0; i < inst->n_words && i < 4; i++)
        used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%08x", i ? " " : "", inst->words[i]);
    char why[128];
    va_list ap;
    va_start(ap, cause);
    vsnprintf(why, sizeof(why), cause, ap);
    va_end(ap);
    const struct sg_launch *launch = w->group ? w->group->launch : NULL;
    f->kind = kind;
    f->pc = w->pc - 4u * inst->n_words;
    f->address = address;
    snprintf(f->text, sizeof(f->text), "%s: instruction [%s] %s in kernel %.60s at 0x%llx", why, words,
             inst->info ? inst->info->mnemonic : "(unknown)", launch ? launch->kernel_name : "?",
             (unsigned long long)f->pc);
    return SG_STEP_FAULT;
}

uint64_t sg_src_mask(const struct sg_wave *w, const struct sg_inst *inst, unsigned i)
{
    return sg_scalar64(w, inst, inst->src[i]);
}

void sg_dst_mask(struct sg_wave *w, const struct sg_inst *inst, uint64_t bits)
{
    if (inst->sdst < 127)
        sg_set_sgpr64(w, inst->sdst, bits);
}

void sg_store_lanes(uint32_t *reg, const uint32_t *r, uint64_t mask)
{
    if (mask == UINT64_MAX) {
        memcpy(reg, r, SG_LANES * sizeof(*reg));
        return;
    }
    // Bits tested against a constant table, since shifts by lane do not vectorise everywhere.
    static const uint32_t bit[32] = {
        1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
        1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
        1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
        1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
    };
    for (unsigned half = 0; half < 2; half++) {
        const uint32_t m = (uint32_t)(mask >> (32 * half));
        uint32_t *to = reg + 32 * half;
        const uint32_t *from = r + 32 * half;
        for (unsigned i = 0; i < 32; i++)
            to[i] = (m & bit[i]) == bit[i] ? from[i] : to[i];
    }
}

unsigned sg_vgpr_dst(const struct sg_wave *w, const struct sg_inst *inst)
{
    unsigned n = inst->vdst;
    if (n < 256 && sg_gpr_indexed(w, 3))
        n = (n + (w->sgpr[SG_SGPR_M0] & 0xff)) & 0xff;
    return n;
}

// SDWA destination: the result's low bits go to the selected part; the rest becomes zero, sign, or stays.
static void store_sdwa(uint32_t *reg, const uint32_t *r, uint64_t mask, const struct sg_inst *inst)
{
    static const struct {
        uint8_t shift, bits;
    } part[8] = {{0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 16}, {16, 16}, {0, 32}, {0, 32}};
    const unsigned shift = part[inst->sdwa_dst_sel].shift, bits = part[inst->sdwa_dst_sel].bits;
    const uint32_t field = (bits == 32 ? UINT32_MAX : (1u << bits) - 1) << shift;
    const uint32_t above = shift + bits >= 32 ? 0 : UINT32_MAX << (shift + bits);
    for (unsigned i = 0; i < SG_LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        const uint32_t v = (r[i] << shift) & field;
        uint32_t rest = 0;
        if (inst->sdwa_dst_unused == 2)
            rest = reg[i] & ~field;
        else if (inst->sdwa_dst_unused == 1 && v >> (shift + bits - 1) & 1)
            rest = above;
        reg[i] = v | rest;
    }
}

void sg_dst32(struct sg_wave *w, const struct sg_inst *inst, const uint32_t *r)
{
    uint32_t *reg = w->vgpr[sg_vgpr_dst(w, inst)];
    if (inst->mod == SG_MOD_SDWA)
        store_sdwa(reg, r, sg_exec(w), inst);
    else
        sg_store_lanes(reg, r, sg_active(w, inst));
}

void sg_dst64(struct sg_wave *w, const struct sg_inst *inst, const uint64_t *r)
{
    uint32_t lo[SG_LANES], hi[SG_LANES];
    for (unsigned i = 0; i < SG_LANES; i++) {
        lo[i] = (uint32_t)r[i];
        hi[i] = (uint32_t)(r[i] >> 32);
    }
    const unsigned n = sg_vgpr_dst(w, inst);
    const uint64_t mask = sg_active(w, inst);
    sg_store_lanes(w->vgpr[n], lo, mask);
    sg_store_lanes(w->vgpr[n + 1], hi, mask);
}

void sg_dst16(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r)
{
    for (unsigned i = 0; i < SG_LANES; i++)
        r[i] &= 0xffff;
    sg_dst32(w, inst, r);
}

void sg_dst16_half(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r)
{
    const uint32_t *old = w->vgpr[sg_vgpr_dst(w, inst)];
    const unsigned shift = inst->op_sel & 8 ? 16 : 0;
    for (unsigned i = 0; i < SG_LANES; i++)
        r[i] = (old[i] & (0xffff0000u >> shift)) | (r[i] & 0xffff) << shift;
    sg_dst32(w, inst, r);
}

// Output modifiers are for code without denormals: with IEEE mode or output denormals the hardware ignores them, else
// the scaled result has neither denormals nor -0. Source: "AMD Instinct MI200 Instruction Set Architecture", Output
// Modifiers.
static bool scales(const struct sg_wave *w, const struct sg_inst *inst, uint32_t denormals)
{
    return inst->omod && !(w->mode & (SG_MODE_IEEE | denormals));
}

static const float omod_factor[4] = {1.0f, 2.0f, 4.0f, 0.5f};

static void clamp_f32(const struct sg_wave *w, uint32_t *r)
{
    const uint32_t nan_to = w->mode & SG_MODE_DX10_CLAMP ? 0 : UINT32_MAX;
    for (unsigned i = 0; i < SG_LANES; i++) {
        const float x = sg_f32(r[i]);
        const uint32_t clamped = x > 0.0f ? (x < 1.0f ? r[i] : 0x3f800000u) : 0;
        r[i] = sg_is_nan32(r[i]) ? r[i] & nan_to : clamped;
    }
}

void sg_dst_f32(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r)
{
    const bool scaled = scales(w, inst, SG_MODE_DENORM32_OUT);
    if (scaled)
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = sg_bits32(sg_f32(r[i]) * omod_factor[inst->omod]);
    if (!(w->mode & SG_MODE_DENORM32_OUT))
        sg_flush32(r);
    if (scaled)
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = r[i] << 1 ? r[i] : 0;
    if (inst->clamp)
        clamp_f32(w, r);
    sg_dst32(w, inst, r);
}

void sg_dst_f64(struct sg_wave *w, const struct sg_inst *inst, uint64_t *r)
{
    const bool scaled = scales(w, inst, SG_MODE_DENORM64_OUT);
    if (scaled)
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = sg_bits64(sg_f64(r[i]) * (double)omod_factor[inst->omod]);
    if (!(w->mode & SG_MODE_DENORM64_OUT))
        sg_flush64(r);
    if (scaled)
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = r[i] << 1 ? r[i] : 0;
    if (inst->clamp)
        for (unsigned i = 0; i < SG_LANES; i++) {
            const double x = sg_f64(r[i]);
            if (x != x)
                r[i] = w->mode & SG_MODE_DX10_CLAMP ? 0 : r[i];
            else
                r[i] = x > 0.0 ? (x < 1.0 ? r[i] : 0x3ff0000000000000u) : 0;
        }
    sg_dst64(w, inst, r);
}

// Output modifiers of f16 results, in place.
static void finish_f16(const struct sg_wave *w, const struct sg_inst *inst, uint32_t *r)
{
    const bool scaled = scales(w, inst, SG_MODE_DENORM64_OUT);
    if (scaled)
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = sg_f16_from_f32(sg_f32_from_f16(r[i]) * omod_factor[inst->omod]);
    if (!(w->mode & SG_MODE_DENORM64_OUT))
        sg_flush16(r);
    if (scaled)
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = r[i] & 0x7fff ? r[i] : 0;
    if (!inst->clamp)
        return;
    for (unsigned i = 0; i < SG_LANES; i++)
        r[i] = sg_clamp_f16(r[i], w->mode & SG_MODE_DX10_CLAMP);
}

void sg_round_f16(const struct sg_wave *w, uint32_t *r)
{
    const unsigned mode = (w->mode & SG_MODE_ROUND64) >> 2;
    if (mode)
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = sg_f16_from_f64(sg_f32(r[i]), mode);
    else
        for (unsigned i = 0; i < SG_LANES; i++)
            r[i] = sg_f16_from_f32_rne(sg_f32(r[i]));
}

void sg_dst_f16(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r)
{
    finish_f16(w, inst, r);
    sg_dst16(w, inst, r);
}

void sg_dst_f16_half(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r)
{
    finish_f16(w, inst, r);
    sg_dst16_half(w, inst, r);
}
