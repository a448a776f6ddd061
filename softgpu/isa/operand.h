// SPDX-License-Identifier: MIT
// Operands of vector instructions: 64-lane sources in, 64-lane results out. A vector operation is three
// steps: gather each source to an array, compute a result array in one plain loop the compiler can vectorise,
// store it. Everything between registers and that loop lives here once: scalar broadcast, SDWA selection, DPP
// permutation, abs/neg, op_sel, denormal flushing, omod, clamp, EXEC and relative (s_set_gpr_idx) addressing.
#ifndef SG_OPERAND_H
#define SG_OPERAND_H

#include "softgpu/isa/wave.h"

// MODE register. Source: "AMD Instinct MI200 Instruction Set Architecture", Mode register.
#define SG_MODE_ROUND32      0x003u // 0 nearest even, 1 +inf, 2 -inf, 3 zero
#define SG_MODE_ROUND64      0x00cu // for f64 and f16
#define SG_MODE_DENORM32_IN  0x010u // set: f32 input denormals are kept
#define SG_MODE_DENORM32_OUT 0x020u
#define SG_MODE_DENORM64_IN  0x040u // for f64 and f16
#define SG_MODE_DENORM64_OUT 0x080u
#define SG_MODE_DX10_CLAMP   0x100u
#define SG_MODE_IEEE         0x200u
#define SG_MODE_FP16_OVFL    0x00800000u
#define SG_MODE_GPR_IDX_EN   0x08000000u // relative VGPR addressing; index and operands are in M0
#define SG_MODE_VSKIP        0x10000000u

// Implicit operands of VOP2: value of sg_opinfo.arg in the VOP2 table; the decoder turns them into src[2].
enum sg_implicit {
    SG_IMPLICIT_NONE,
    SG_IMPLICIT_VCC, // src2 is VCC (an SGPR pair in VOP3 form)
    SG_IMPLICIT_DST, // src2 is the destination (accumulating forms)
    SG_IMPLICIT_MK,  // literal follows: src1 = literal, src2 = vsrc1
    SG_IMPLICIT_AK,  // literal follows: src2 = literal
};

// Sources. `buf` has SG_LANES elements; the result points to it or straight into the register file, and stays
// valid until the next register write. i is the source number 0..2.
const uint32_t *sg_src32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf);
const uint32_t *sg_src_f32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf);
// 16-bit sources come in the low half with zeros above.
const uint32_t *sg_src16(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf);
const uint32_t *sg_src_f16(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf);
const uint64_t *sg_src64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint64_t *buf);
const uint64_t *sg_src_f64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint64_t *buf);
// Floats that are only looked at or moved: abs and neg apply, denormals stay whatever MODE says.
const uint32_t *sg_src_look32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf);
const uint32_t *sg_src_look16(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint32_t *buf);
const uint64_t *sg_src_look64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, uint64_t *buf);

// A scalar source of a vector instruction as a lane mask (carry in, condition): SGPR pair or constant.
uint64_t sg_src_mask(const struct sg_wave *w, const struct sg_inst *inst, unsigned i);

// Results. The f forms apply omod, clamp and denormal flushing to `r` in place first.
void sg_dst32(struct sg_wave *w, const struct sg_inst *inst, const uint32_t *r);
void sg_dst_f32(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r);
// 16-bit results: low half of each element. The upper half of the register becomes zero, except that the
// VOP3-only forms introduced with GFX9 write just the half that op_sel names: those use the _half forms.
void sg_dst16(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r);
// Rounds f32 bit patterns to f16 ones in place, in the mode of the wave.
void sg_round_f16(const struct sg_wave *w, uint32_t *r);
void sg_dst_f16(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r);
void sg_dst16_half(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r);
void sg_dst_f16_half(struct sg_wave *w, const struct sg_inst *inst, uint32_t *r);
void sg_dst64(struct sg_wave *w, const struct sg_inst *inst, const uint64_t *r);
void sg_dst_f64(struct sg_wave *w, const struct sg_inst *inst, uint64_t *r);

// The direct way, without copies: sources are registers (or scalars) as they are, the result is computed in place. Lanes
// with the same number are all that sources and result share, so a loop over lanes may be taken as vectors.
static inline bool sg_direct(const struct sg_wave *w, const struct sg_inst *inst)
{
    return inst->direct && !(w->mode & SG_MODE_GPR_IDX_EN);
}

static inline const uint32_t *sg_fast32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i,
                                        uint32_t *buf)
{
    const unsigned src = inst->src[i];
    if (!sg_direct(w, inst))
        return sg_src32(w, inst, i, buf);
    if (src >= SG_SRC_VGPR0)
        return w->vgpr[src - SG_SRC_VGPR0];
    const uint32_t v = src < 128 ? w->sgpr[src] : sg_scalar32(w, inst, src);
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        buf[lane] = v;
    return buf;
}

static inline const uint32_t *sg_fast_f32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i,
                                          uint32_t *buf)
{
    if (!(w->mode & SG_MODE_DENORM32_IN) || (inst->abs | inst->neg) >> i & 1)
        return sg_src_f32(w, inst, i, buf);
    return sg_fast32(w, inst, i, buf);
}

// Where a 32-bit result may be computed in place; NULL: through a copy. The second form is for floats.
static inline uint32_t *sg_place32(const struct sg_wave *w, const struct sg_inst *inst)
{
    return sg_direct(w, inst) && sg_exec(w) == UINT64_MAX ? w->vgpr[inst->vdst] : NULL;
}

static inline uint32_t *sg_place_f32(const struct sg_wave *w, const struct sg_inst *inst)
{
    return inst->omod | inst->clamp || !(w->mode & SG_MODE_DENORM32_OUT) ? NULL : sg_place32(w, inst);
}

// Lanes the instruction acts on: EXEC less what DPP disables.
uint64_t sg_active(const struct sg_wave *w, const struct sg_inst *inst);

// Writes a lane mask (compare result, carry out) to inst->sdst; bits of inactive lanes must be zero.
void sg_dst_mask(struct sg_wave *w, const struct sg_inst *inst, uint64_t bits);

// One byte of 0 or 1 per lane becomes one bit: the multiplication moves bit 8*i to bit 56 + i.
static inline uint64_t sg_pack_hits(const uint8_t *hit)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, hit + 8 * i, 8);
        bits |= (eight * 0x0102040810204080ull >> 56) << (8 * i);
    }
    return bits;
}

// Is operand i (0..2 sources, 3 destination) addressed relative to M0[7:0]? Source: the same guide, S_SET_GPR_IDX_ON.
static inline bool sg_gpr_indexed(const struct sg_wave *w, unsigned i)
{
    return w->mode & SG_MODE_GPR_IDX_EN && w->sgpr[SG_SGPR_M0] >> (12 + i) & 1;
}

// Register file index (0..511) of a vector source or of the destination with relative addressing applied.
unsigned sg_vgpr_src(const struct sg_wave *w, const struct sg_inst *inst, unsigned i);
unsigned sg_vgpr_dst(const struct sg_wave *w, const struct sg_inst *inst);

// Stores lanes of `r` where `mask` is set into one register of the file.
void sg_store_lanes(uint32_t *reg, const uint32_t *r, uint64_t mask);

#endif
