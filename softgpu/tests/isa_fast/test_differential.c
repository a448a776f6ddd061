// SPDX-License-Identifier: MIT
// Random instructions of the scalar and vector units, LDS and global memory, each run by the plain semantics on one wave and
// by a random choice of fast paths on another: registers, masks, LDS and memory must be the same afterwards. NaNs count as
// equal, as their payload is the host's business. Usage: test_differential SECONDS [SEED]
#include "softgpu/isa/fast.h"
#include "softgpu/isa/operand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS      64
#define LDS_BYTES 2048
#define BUFFER    16384
#define RUN       60 // instructions between two states
#define ADDRESS   40 // v[40:41] and v42 hold addresses; s[96:97] is the base of memory

struct state {
    struct sg_wave wave;
    uint32_t vgpr[512 + 16][SG_LANES];
    uint8_t lds[LDS_BYTES], memory[BUFFER];
    struct sg_group group;
    struct sg_fault fault;
};

static struct sg_launch launch = {.kernel_name = "random", .shared_aperture_hi = 1, .private_aperture_hi = 2};
static struct state plain, fast;
static uint8_t buffer[BUFFER] __attribute__((aligned(64))); // what both see as memory
static uint64_t seed;

static uint32_t noise(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

static uint32_t below(uint32_t n)
{
    return noise() % n;
}

// Values that matter: small, floats near 1, denormals, infinities, NaNs, any bits.
static uint32_t value(void)
{
    static const uint32_t special[] = {0,          0x80000000, 1,          0x007fffff,
                                       0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                       0x3f800000, 0xffffffff, 0x7fffffff, 0x33800000};
    switch (below(4)) {
    case 0:
        return special[below(sizeof special / sizeof special[0])];
    case 1:
        return 0x3f000000 + (noise() & 0x80ffffff);
    case 2:
        return below(100);
    default:
        return noise();
    }
}

static void new_state(void)
{
    memset(&plain.wave, 0, sizeof plain.wave);
    for (unsigned i = 0; i < 128; i++)
        plain.wave.sgpr[i] = value();
    plain.wave.sgpr[SG_SGPR_M0] &= 0xff0003ff;
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned lane = 0; lane < SG_LANES; lane++)
            plain.vgpr[row][lane] = value();
    for (unsigned i = 0; i < BUFFER; i++)
        buffer[i] = (uint8_t)noise();
    for (unsigned i = 0; i < LDS_BYTES; i++)
        plain.lds[i] = (uint8_t)noise();
    plain.wave.mode = 0x3f0;
    if (!below(4))
        plain.wave.mode = noise() & 0x3ff;
    sg_set_sgpr64(&plain.wave, SG_SGPR_EXEC, below(3) ? UINT64_MAX : (uint64_t)noise() << 32 | noise());
}

static void attach(struct state *s)
{
    s->wave.vgpr = s->vgpr;
    s->wave.group = &s->group;
    s->wave.fault = &s->fault;
    s->group = (struct sg_group){.launch = &launch, .lds = s->lds, .lds_bytes = LDS_BYTES, .n_waves = 1};
}

static uint32_t source(void)
{
    switch (below(8)) {
    case 0:
        return below(100);
    case 1:
        return 128 + below(81);
    case 2:
        return 240 + below(9);
    case 3:
        return below(2) ? SG_SGPR_VCC : 249 + below(7); // SDWA, DPP, ..., literal
    default:
        return SG_SRC_VGPR0 + below(32);
    }
}

// Addresses for the next memory instruction, the same in each lane's element: in order, all the same, or anywhere.
static void set_addresses(bool scalar, unsigned span)
{
    const unsigned kind = below(4), start = below(64) * 4 + (below(8) ? 0 : 1);
    for (uint32_t lane = 0; lane < SG_LANES; lane++) {
        uint32_t at = kind == 0 ? start : kind == 1 ? below(span) : start + 4 * lane;
        if (kind == 3 && below(40) == 0)
            at = below(span);
        const uint64_t address = (scalar ? 0 : (uintptr_t)buffer + 4096) + at;
        plain.vgpr[ADDRESS][lane] = (uint32_t)address;
        plain.vgpr[ADDRESS + 1][lane] = (uint32_t)(address >> 32);
        plain.vgpr[ADDRESS + 2][lane] = below(50) ? at : noise();
    }
    sg_set_sgpr64(&plain.wave, 96, (uintptr_t)buffer + 4096);
}

static void make_words(unsigned encoding, uint32_t op, uint32_t w[4])
{
    w[1] = noise();
    w[2] = w[3] = 0;
    switch (encoding) {
    case SG_ENC_SOP1:
        w[0] = 0xbe800000u | below(100) << 16 | op << 8 | (below(3) ? below(104) : 128 + below(81));
        break;
    case SG_ENC_SOP2:
        w[0] = 0x80000000u | op << 23 | below(100) << 16 | below(104) << 8 |
               (below(3) ? below(104) : 128 + below(81));
        break;
    case SG_ENC_SOPC:
        w[0] = 0xbf000000u | op << 16 | below(104) << 8 | below(104);
        break;
    case SG_ENC_VOP1:
        w[0] = 0x7e000000u | below(32) << 17 | op << 9 | source();
        break;
    case SG_ENC_VOP2:
        w[0] = op << 25 | below(32) << 17 | below(32) << 9 | source();
        break;
    case SG_ENC_VOPC:
        w[0] = 0x7c000000u | op << 17 | below(32) << 9 | source();
        break;
    case SG_ENC_DS:
        w[0] = 0xd8000000u | op << 17 | (below(2) ? below(64) : below(64) << 8 | below(64));
        w[1] = below(32) << 24 | below(32) << 16 | below(32) << 8 | (ADDRESS + 2);
        break;
    case SG_ENC_GLOBAL:
        w[0] = 0xdc008000u | op << 18 | below(2) << 16 | (noise() & 0x3ff);
        w[1] = below(32) << 24 | (below(2) ? 0x7fu : 96u) << 16 | below(32) << 8 | ADDRESS;
        break;
    default: { // VOP3, with modifiers now and then
        const uint32_t modifiers = below(3) ? 0 : noise();
        w[0] = 0xd0000000u | op << 16 | (modifiers & 0xff00) | below(32);
        w[1] = (noise() & (below(3) ? 0 : 0xf8000000u)) | source() << 18 | source() << 9 | source();
        break;
    }
    }
}

// Not those that end or leave the program, tell the time or wait.
static bool make_instruction(struct sg_inst *inst)
{
    static const uint8_t encodings[] = {SG_ENC_SOP1, SG_ENC_SOP2, SG_ENC_SOPC, SG_ENC_VOP1,   SG_ENC_VOP2,
                                        SG_ENC_VOPC, SG_ENC_VOP3, SG_ENC_DS,   SG_ENC_GLOBAL, SG_ENC_VOP2};
    const unsigned encoding = encodings[below(sizeof encodings)];
    const struct sg_optable *table = sg_optables[encoding];
    const struct sg_opinfo *row = &table->rows[below((uint32_t)table->count)];
    uint32_t words[4], op = row->opcode;
    if (encoding <= SG_ENC_SOPC && row->klass == SG_CLASS_BRANCH)
        return false;
    if (encoding == SG_ENC_DS && (row->klass != SG_CLASS_LDS || strstr(row->mnemonic, "gws")))
        return false;
    make_words(encoding, op, words);
    if (!sg_decode(words, 4, inst) || !inst->info->exec || inst->info->encoding != encoding)
        return false;
    if (encoding == SG_ENC_DS)
        set_addresses(false, LDS_BYTES);
    if (encoding == SG_ENC_GLOBAL)
        set_addresses(inst->saddr != 0x7f, 4096);
    if (encoding == SG_ENC_GLOBAL && inst->info->klass == SG_CLASS_FLAT_WR &&
        strstr(inst->info->mnemonic, "atomic"))
        return false; // lanes that race for a word are tested elsewhere
    if (inst->mod == SG_MOD_SDWA && inst->info->flags & SG_OP_FLOAT && inst->sdwa_dst_sel != 6)
        return false; // parts of a NaN
    return true;
}

static bool same(uint32_t a, uint32_t b)
{
    return a == b || ((a & 0x7fffffff) > 0x7f800000 && (b & 0x7fffffff) > 0x7f800000);
}

static bool same_half(uint32_t a, uint32_t b)
{
    return a == b || ((a & 0x7fff) > 0x7c00 && (b & 0x7fff) > 0x7c00);
}

// Halves of f64 NaNs and pairs of f16 NaNs are seen as any bits: where they differ, both must be NaNs as such.
static bool same_lane(const struct sg_inst *inst, unsigned row, unsigned lane)
{
    const uint32_t a = plain.vgpr[row][lane], b = fast.vgpr[row][lane];
    if (same(a, b))
        return true;
    if (!(inst->info->flags & SG_OP_FLOAT))
        return false;
    if (inst->info->flags & SG_OP_HALF)
        return same_half(a & 0xffff, b & 0xffff) && same_half(a >> 16, b >> 16);
    const uint32_t high_a = plain.vgpr[row + 1][lane], high_b = fast.vgpr[row + 1][lane];
    if (inst->info->dst_dwords == 2)
        return (high_a & 0x7ff00000) == 0x7ff00000 && (high_b & 0x7ff00000) == 0x7ff00000;
    return false;
}

static int differ(const struct sg_inst *inst, const char *what, unsigned row, unsigned lane, uint32_t a,
                  uint32_t b)
{
    printf("%s: %08x %08x: %s %u lane %u: plain %08x, fast paths 0x%x %08x\n", inst->info->mnemonic,
           inst->words[0], inst->words[1], what, row, lane, a, sg_fast_paths(), b);
    return 1;
}

static int compare(const struct sg_inst *inst, bool memory)
{
    for (unsigned i = 0; i < 128; i++)
        if (!same(plain.wave.sgpr[i], fast.wave.sgpr[i]))
            return differ(inst, "s", i, 0, plain.wave.sgpr[i], fast.wave.sgpr[i]);
    for (unsigned row = 0; row < ROWS; row++) {
        if (!memcmp(plain.vgpr[row], fast.vgpr[row], sizeof plain.vgpr[row]))
            continue;
        for (unsigned lane = 0; lane < SG_LANES; lane++)
            if (!same_lane(inst, row, lane))
                return differ(inst, "v", row, lane, plain.vgpr[row][lane], fast.vgpr[row][lane]);
    }
    if (plain.wave.scc != fast.wave.scc || plain.wave.mode != fast.wave.mode)
        return differ(inst, "scc, mode", 0, 0, plain.wave.mode, fast.wave.mode);
    if (!memory)
        return 0;
    if (memcmp(plain.lds, fast.lds, LDS_BYTES) != 0)
        return differ(inst, "LDS", 0, 0, 0, 0);
    return memcmp(plain.memory, buffer, BUFFER) != 0 ? differ(inst, "memory", 0, 0, 0, 0) : 0;
}

static int one(struct sg_inst inst)
{
    // With relative addressing any register may be read.
    memcpy(fast.vgpr, plain.vgpr,
           (plain.wave.mode & SG_MODE_GPR_IDX_EN ? 512 : ROWS + 1) * sizeof fast.vgpr[0]);
    const bool memory = inst.info->encoding == SG_ENC_GLOBAL || inst.info->encoding == SG_ENC_DS;
    if (memory) {
        memcpy(fast.lds, plain.lds, LDS_BYTES);
        memcpy(fast.memory, buffer, BUFFER);
    }
    fast.wave = plain.wave;
    attach(&plain);
    attach(&fast);
    const enum sg_step step = inst.info->exec(&plain.wave, &inst);
    if (memory) {
        memcpy(plain.memory, buffer, BUFFER);
        memcpy(buffer, fast.memory, BUFFER);
    }
    struct sg_inst chosen = inst;
    sg_fast_choose(&chosen);
    if (chosen.exec(&fast.wave, &chosen) != step)
        return differ(&inst, "step", 0, 0, 0, 0);
    return compare(&inst, memory);
}

int main(int argc, char **argv)
{
    const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0x9e3779b97f4a7c15u;
    unsigned long count = 0;
    int failures = 0;
    while (failures < 20 && time(NULL) < end) {
        sg_fast_set(noise() & SG_FAST_ALL);
        for (unsigned states = 0; states < 20; states++) {
            new_state();
            for (unsigned i = 0; i < RUN; i++) {
                struct sg_inst inst;
                if (!make_instruction(&inst))
                    continue;
                failures += one(inst);
                count++;
            }
        }
    }
    printf("%lu instructions, %d differences\n", count, failures);
    return failures != 0;
}
