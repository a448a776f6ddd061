// SPDX-License-Identifier: MIT
// A wave built by hand, and encoders that name instructions by mnemonic, for tests of single operations.
#ifndef SG_TEST_BARE_WAVE_H
#define SG_TEST_BARE_WAVE_H

#include "softgpu/isa/operand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// All modes as a HIP program has them: round to nearest, denormals kept, DX10 clamp, IEEE.
#define MODE_HIP 0x3f0u

#define V(n)           (256u + (n)) // vector register as a source
#define S(n)           (n)          // scalar register
#define INT(i)         ((i) >= 0 ? 128u + (unsigned)(i) : 192u + (unsigned)-(i))
#define VCC            106u
#define EXEC           126u
#define LITERAL        255u
#define ONE            242u // inline 1.0
#define TWO_PI_INVERSE 248u

struct bare {
    struct sg_wave wave;
    uint32_t vgpr[512][SG_LANES];
    struct sg_launch launch;
    struct sg_group group;
    struct sg_fault fault;
};

// A wave with all lanes on and all registers zero.
void bare_init(struct bare *b);

// Runs a sequence of dwords to its end; the last step's result.
enum sg_step bare_run(struct bare *b, const uint32_t *code, size_t n_dwords);

// Encoders. Each appends to a small program that bare_go() runs and empties; unknown mnemonics fail the test.
void emit(uint32_t word);
void sop1(const char *name, unsigned dst, unsigned src);
void sop2(const char *name, unsigned dst, unsigned a, unsigned b);
void sopc(const char *name, unsigned a, unsigned b);
void sopk(const char *name, unsigned dst, int k);
void sopp(const char *name, int k);
void vop1(const char *name, unsigned dst, unsigned src);
void vop2(const char *name, unsigned dst, unsigned a, unsigned vb);
void vopc(const char *name, unsigned a, unsigned vb);
// Any VOP1/VOP2/VOPC/VOP3 operation in VOP3 form. `dst` of a compare is an SGPR. Modifiers by field.
struct vop3_mods {
    unsigned abs, neg, omod, clamp, op_sel, sdst;
};
void vop3(const char *name, unsigned dst, unsigned a, unsigned b, unsigned c, struct vop3_mods m);
// Packed operation: op_sel_hi as written in assembly (7 = default), neg and neg_hi as bit masks.
struct vop3p_mods {
    unsigned op_sel, op_sel_hi, neg, neg_hi, clamp;
};
void vop3p(const char *name, unsigned dst, unsigned a, unsigned b, unsigned c, struct vop3p_mods m);
enum sg_step bare_go(struct bare *b);

static inline void set_all(struct bare *b, unsigned reg, uint32_t v)
{
    for (unsigned i = 0; i < SG_LANES; i++)
        b->vgpr[reg][i] = v;
}

static inline void set_all64(struct bare *b, unsigned reg, uint64_t v)
{
    set_all(b, reg, (uint32_t)v);
    set_all(b, reg + 1, (uint32_t)(v >> 32));
}

static inline uint64_t get64(const struct bare *b, unsigned reg, unsigned lane)
{
    return (uint64_t)b->vgpr[reg + 1][lane] << 32 | b->vgpr[reg][lane];
}

#endif
