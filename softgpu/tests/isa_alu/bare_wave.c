// SPDX-License-Identifier: MIT
#include "softgpu/tests/isa_alu/bare_wave.h"

static uint32_t program[256];
static size_t length;

void bare_init(struct bare *b)
{
    memset(b, 0, sizeof(*b));
    b->launch.kernel_name = "bare";
    b->group.launch = &b->launch;
    b->wave.vgpr = b->vgpr;
    b->wave.group = &b->group;
    b->wave.fault = &b->fault;
    b->wave.mode = MODE_HIP;
    sg_set_sgpr64(&b->wave, SG_SGPR_EXEC, UINT64_MAX);
    length = 0;
}

enum sg_step bare_run(struct bare *b, const uint32_t *code, size_t n_dwords)
{
    const uint64_t begin = (uintptr_t)code, end = begin + 4 * n_dwords;
    b->wave.pc = begin;
    while (b->wave.pc >= begin && b->wave.pc < end) {
        struct sg_inst inst;
        const uint32_t *at = (const uint32_t *)(uintptr_t)b->wave.pc;
        const int n = sg_decode(at, (end - b->wave.pc) / 4, &inst);
        b->wave.pc += 4u * (n ? (unsigned)n : inst.n_words);
        if (!n || !inst.info->exec)
            return sg_wave_fault(&b->wave, &inst, SG_FAULT_ILLEGAL, 0, "illegal instruction");
        const enum sg_step step = inst.info->exec(&b->wave, &inst);
        if (step != SG_STEP_OK)
            return step;
    }
    return SG_STEP_OK;
}

void emit(uint32_t word)
{
    assert_true(length < sizeof(program) / sizeof(*program));
    program[length++] = word;
}

enum sg_step bare_go(struct bare *b)
{
    const size_t n = length;
    length = 0;
    return bare_run(b, program, n);
}

static const struct sg_opinfo *find_in(enum sg_encoding encoding, const char *name)
{
    for (size_t i = 0; i < sg_optables[encoding]->count; i++)
        if (!strcmp(sg_optables[encoding]->rows[i].mnemonic, name))
            return &sg_optables[encoding]->rows[i];
    return NULL;
}

static uint32_t opcode(enum sg_encoding encoding, const char *name)
{
    const struct sg_opinfo *info = find_in(encoding, name);
    if (!info)
        fail_msg("no instruction %s", name);
    return info->opcode;
}

void sop1(const char *name, unsigned dst, unsigned src)
{
    emit(0xbe800000u | dst << 16 | opcode(SG_ENC_SOP1, name) << 8 | src);
}

void sop2(const char *name, unsigned dst, unsigned a, unsigned b)
{
    emit(0x80000000u | opcode(SG_ENC_SOP2, name) << 23 | dst << 16 | b << 8 | a);
}

void sopc(const char *name, unsigned a, unsigned b)
{
    emit(0xbf000000u | opcode(SG_ENC_SOPC, name) << 16 | b << 8 | a);
}

void sopk(const char *name, unsigned dst, int k)
{
    emit(0xb0000000u | opcode(SG_ENC_SOPK, name) << 23 | dst << 16 | ((unsigned)k & 0xffff));
}

void sopp(const char *name, int k)
{
    emit(0xbf800000u | opcode(SG_ENC_SOPP, name) << 16 | ((unsigned)k & 0xffff));
}

void vop1(const char *name, unsigned dst, unsigned src)
{
    emit(0x7e000000u | dst << 17 | opcode(SG_ENC_VOP1, name) << 9 | src);
}

void vop2(const char *name, unsigned dst, unsigned a, unsigned vb)
{
    emit(opcode(SG_ENC_VOP2, name) << 25 | dst << 17 | vb << 9 | a);
}

void vopc(const char *name, unsigned a, unsigned vb)
{
    emit(0x7c000000u | opcode(SG_ENC_VOPC, name) << 17 | vb << 9 | a);
}

void vop3(const char *name, unsigned dst, unsigned a, unsigned b, unsigned c, struct vop3_mods m)
{
    static const struct {
        enum sg_encoding encoding;
        unsigned base;
    } tables[] = {{SG_ENC_VOP3, 0}, {SG_ENC_VOP2, 0x100}, {SG_ENC_VOP1, 0x140}, {SG_ENC_VOPC, 0}};
    const struct sg_opinfo *info = NULL;
    unsigned op = 0;
    for (size_t i = 0; !info && i < sizeof(tables) / sizeof(*tables); i++) {
        info = find_in(tables[i].encoding, name);
        op = info ? info->opcode + tables[i].base : 0;
    }
    if (!info)
        fail_msg("no instruction %s", name);
    const uint32_t high = info->flags & SG_OP_VOP3B ? m.sdst << 8 : m.abs << 8 | m.op_sel << 11;
    emit(0xd0000000u | op << 16 | m.clamp << 15 | high | dst);
    emit(m.neg << 29 | m.omod << 27 | c << 18 | b << 9 | a);
}

void vop3p(const char *name, unsigned dst, unsigned a, unsigned b, unsigned c, struct vop3p_mods m)
{
    emit(0xd3800000u | opcode(SG_ENC_VOP3P, name) << 16 | m.clamp << 15 | (m.op_sel_hi >> 2 & 1) << 14 |
         m.op_sel << 11 | m.neg_hi << 8 | dst);
    emit(m.neg << 29 | (m.op_sel_hi & 3) << 27 | c << 18 | b << 9 | a);
}
