// SPDX-License-Identifier: MIT
// What an instruction is, for the counters: found from its mnemonic once and kept by encoding and opcode. ROCm's "MI200
// performance counters" names the classes of vector instructions; which instruction belongs to which is our reading of
// the names, written down in docs/counters.md. Cycles of matrix instructions: "AMD Matrix Instruction Calculator".
#include "softgpu/model/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OPCODES 1024

static struct sg_kind kinds[SG_ENC_COUNT][OPCODES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool begins(const char *text, const char *part)
{
    return strncmp(text, part, strlen(part)) == 0;
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

// 0, 1, 2 for f16, f32, f64 as the type that a mnemonic ends with; -1 for another.
static int float_type(const char *name)
{
    const char *type = strrchr(name, '_');
    static const char *const types[] = {"_f16", "_f32", "_f64"};
    for (int i = 0; type && i < 3; i++)
        if (strcmp(type, types[i]) == 0)
            return i;
    return -1;
}

static const struct {
    const char *begin;
    uint8_t first; // the kind for f16; those for f32 and f64 follow with the same distance
} float_kinds[] = {
    {"v_add_", SG_VALU_ADD_F16},      {"v_sub_", SG_VALU_ADD_F16},     {"v_subrev_", SG_VALU_ADD_F16},
    {"v_pk_add_", SG_VALU_ADD_F16},   {"v_mul_", SG_VALU_MUL_F16},     {"v_pk_mul_", SG_VALU_MUL_F16},
    {"v_fma_", SG_VALU_FMA_F16},      {"v_fmac_", SG_VALU_FMA_F16},    {"v_mad_", SG_VALU_FMA_F16},
    {"v_mac_", SG_VALU_FMA_F16},      {"v_madmk_", SG_VALU_FMA_F16},   {"v_madak_", SG_VALU_FMA_F16},
    {"v_pk_fma_", SG_VALU_FMA_F16},   {"v_pk_fmac_", SG_VALU_FMA_F16}, {"v_div_fmas_", SG_VALU_FMA_F16},
    {"v_dot2c_f32", SG_VALU_FMA_F16}, {"v_dot2_f32", SG_VALU_FMA_F16}, {"v_exp_", SG_VALU_TRANS_F16},
    {"v_log_", SG_VALU_TRANS_F16},    {"v_rcp_", SG_VALU_TRANS_F16},   {"v_rsq_", SG_VALU_TRANS_F16},
    {"v_sqrt_", SG_VALU_TRANS_F16},   {"v_sin_", SG_VALU_TRANS_F16},   {"v_cos_", SG_VALU_TRANS_F16},
};

static uint8_t float_kind(const char *name)
{
    const int type = float_type(name);
    for (size_t i = 0; type >= 0 && i < sizeof float_kinds / sizeof float_kinds[0]; i++)
        if (begins(name, float_kinds[i].begin))
            return (uint8_t)(float_kinds[i].first + type * (SG_VALU_ADD_F32 - SG_VALU_ADD_F16));
    return SG_VALU_NONE;
}

static bool moves_data(const char *name)
{
    static const char *const parts[] = {"v_mov",   "v_pk_mov", "cndmask", "lane_b32",
                                        "accvgpr", "v_swap",   "v_perm",  "v_screen"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (has(name, parts[i]))
            return true;
    return false;
}

static uint8_t integer_kind(const char *name)
{
    if (moves_data(name))
        return SG_VALU_NONE;
    if (has(name, "_i64") || has(name, "_u64") || has(name, "_b64"))
        return SG_VALU_INT64;
    if (has(name, "_i32") || has(name, "_u32") || has(name, "_b32"))
        return SG_VALU_INT32;
    return SG_VALU_NONE;
}

static uint8_t matrix_kind(const char *name)
{
    if (has(name, "bf16"))
        return SG_VALU_MFMA_BF16;
    if (has(name, "i8"))
        return SG_VALU_MFMA_I8;
    const size_t n = strlen(name);
    if (strcmp(name + n - 3, "f16") == 0)
        return SG_VALU_MFMA_F16;
    return strcmp(name + n - 3, "f64") == 0 ? SG_VALU_MFMA_F64 : SG_VALU_MFMA_F32;
}

// v_mfma_<type of D>_<M>x<N>x<K><type of A>: D has M x N elements in each block, all its registers full.
static void describe_matrix(const struct sg_opinfo *info, struct sg_kind *kind)
{
    const char *shape = strchr(info->mnemonic + strlen("v_mfma_"), '_') + 1;
    const unsigned rows = (unsigned)atoi(shape), depth = (unsigned)atoi(strrchr(shape, 'x') + 1);
    kind->valu = matrix_kind(info->mnemonic);
    const bool f64 = kind->valu == SG_VALU_MFMA_F64;
    kind->ops = 2 * depth * SG_LANES * info->dst_dwords / (f64 ? 2 : 1);
    if (f64)
        kind->cycles = rows == 16 ? 32 : 16;
    else
        kind->cycles = rows == 32 ? 64 : rows == 16 ? 32 : 8;
}

static void describe_valu(const struct sg_opinfo *info, struct sg_kind *kind)
{
    if (begins(info->mnemonic, "v_mfma_")) {
        describe_matrix(info, kind);
        return;
    }
    if (begins(info->mnemonic, "v_cvt_"))
        kind->valu = SG_VALU_CVT;
    else if ((kind->valu = float_kind(info->mnemonic)) == SG_VALU_NONE)
        kind->valu = integer_kind(info->mnemonic);
    if (kind->valu == SG_VALU_TRANS_F16 || kind->valu == SG_VALU_TRANS_F32 || kind->valu == SG_VALU_TRANS_F64)
        kind->cycles = SG_MODEL_TRANSCENDENTAL;
}

static uint8_t width_of_format(const char *name)
{
    const char *components = strrchr(name, '_') + 1;
    return (uint8_t)(strlen(components) * (has(name, "d16") ? 2 : 4));
}

// Cache control has no element.
static void describe_memory(const struct sg_opinfo *info, struct sg_kind *kind)
{
    const char *name = info->mnemonic;
    kind->access = SG_ACCESSES;
    if (has(name, "wbinv") || has(name, "wbl2") || has(name, "invl2") || info->encoding == SG_ENC_MIMG)
        return;
    if (has(name, "_atomic_")) {
        kind->access = SG_ACCESS_ATOMIC;
        kind->bytes = info->arg & SG_ATOMIC_64 ? 8 : 4;
        return;
    }
    kind->access = has(name, "_store_") ? SG_ACCESS_WRITE : SG_ACCESS_READ;
    kind->bytes =
        has(name, "_format_") ? width_of_format(name) : (uint8_t)sg_mem_bytes((enum sg_mem_kind)info->arg);
}

// The elements of LDS: two for the forms with two addresses.
static void describe_lds(const struct sg_opinfo *info, struct sg_kind *kind)
{
    const char *name = info->mnemonic;
    if (has(name, "permute") || has(name, "swizzle") || has(name, "gws") || has(name, "ds_nop") ||
        has(name, "consume") || has(name, "append") || has(name, "ordered"))
        return;
    const bool wide = has(name, "_b64") || has(name, "_u64") || has(name, "_i64") || has(name, "_f64");
    kind->bytes = has(name, "_b128") ? 16 : has(name, "_b96") ? 12 : wide ? 8 : 4;
    if (has(name, "_b8") || has(name, "_u8") || has(name, "_i8"))
        kind->bytes = 1;
    else if (has(name, "_b16") || has(name, "_u16") || has(name, "_i16"))
        kind->bytes = 2;
    const bool plain = begins(name, "ds_read") || begins(name, "ds_write");
    kind->access = begins(name, "ds_read")      ? SG_ACCESS_READ
                   : plain                      ? SG_ACCESS_WRITE
                   : info->flags & SG_OP_RETURN ? SG_ACCESS_ATOMIC_RETURN
                                                : SG_ACCESS_ATOMIC;
}

static void describe_scalar(const struct sg_opinfo *info, struct sg_kind *kind)
{
    const char *name = info->mnemonic;
    kind->access = has(name, "_atomic")  ? SG_ACCESS_ATOMIC
                   : has(name, "_store") ? SG_ACCESS_WRITE
                   : has(name, "_load")  ? SG_ACCESS_READ
                                         : SG_ACCESSES;
    if (kind->access == SG_ACCESSES)
        return;
    kind->bytes =
        kind->access == SG_ACCESS_ATOMIC ? (info->arg & SG_ATOMIC_64 ? 8 : 4) : (uint8_t)(4 * info->arg);
}

static const uint8_t port_of_class[] = {
    [SG_CLASS_VALU] = SG_PORT_VALU,    [SG_CLASS_SALU] = SG_PORT_SALU,    [SG_CLASS_SMEM] = SG_PORT_SMEM,
    [SG_CLASS_LDS] = SG_PORT_LDS,      [SG_CLASS_GDS] = SG_PORT_GDS,      [SG_CLASS_VMEM_RD] = SG_PORT_VMEM,
    [SG_CLASS_VMEM_WR] = SG_PORT_VMEM, [SG_CLASS_FLAT_RD] = SG_PORT_FLAT, [SG_CLASS_FLAT_WR] = SG_PORT_FLAT,
    [SG_CLASS_BRANCH] = SG_PORT_MISC,  [SG_CLASS_SENDMSG] = SG_PORT_MISC, [SG_CLASS_OTHER] = SG_PORT_NONE,
};

static void describe(const struct sg_opinfo *info, struct sg_kind *kind)
{
    *kind =
        (struct sg_kind){.port = port_of_class[info->klass], .cycles = SG_MODEL_ISSUE, .access = SG_ACCESSES};
    switch (kind->port) {
    case SG_PORT_VALU:
        describe_valu(info, kind);
        break;
    case SG_PORT_SMEM:
        describe_scalar(info, kind);
        break;
    case SG_PORT_VMEM:
    case SG_PORT_FLAT:
        describe_memory(info, kind);
        break;
    case SG_PORT_LDS:
        describe_lds(info, kind);
        break;
    case SG_PORT_MISC:
        kind->cycles = info->klass == SG_CLASS_BRANCH ? SG_MODEL_BRANCH : SG_MODEL_ISSUE;
        break;
    default:
        break;
    }
}

static void describe_all(void)
{
    for (unsigned e = 0; e < SG_ENC_COUNT; e++)
        for (size_t i = 0; sg_optables[e] && i < sg_optables[e]->count; i++)
            if (sg_optables[e]->rows[i].opcode < OPCODES)
                describe(&sg_optables[e]->rows[i], &kinds[e][sg_optables[e]->rows[i].opcode]);
}

const struct sg_kind *sg_kind_of(const struct sg_inst *inst)
{
    pthread_once(&once, describe_all);
    return &kinds[inst->info->encoding][inst->info->opcode % OPCODES];
}
