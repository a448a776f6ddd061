// SPDX-License-Identifier: MIT
// The choice of fast paths: SOFTGPU_FAST, and what the host's processor has. The semantics of hot encodings are compiled
// several times (CMakeLists.txt); their tables have the same rows in the same order.
#include "softgpu/isa/fast.h"
#include "softgpu/isa/isa.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned paths;
} names[] = {
    {"blocks", SG_FAST_BLOCKS},
    {"vector", SG_FAST_VECTOR},
    {"memory", SG_FAST_MEMORY},
    {"avx2", SG_FAST_AVX2},
    {"avx512", SG_FAST_AVX512},
    {"all", SG_FAST_ALL},
    {"none", 0},
};

static unsigned paths;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#ifdef SG_HOST_LEVELS
extern const struct sg_optable sg_table_vop1_v3, sg_table_vop2_v3, sg_table_vop3_v3, sg_table_vopc_v3;
extern const struct sg_optable sg_table_ds_v3, sg_table_flat_v3, sg_table_global_v3, sg_table_scratch_v3;
extern const struct sg_optable sg_table_vop1_v4, sg_table_vop2_v4, sg_table_vop3_v4, sg_table_vopc_v4;
extern const struct sg_optable sg_table_ds_v4, sg_table_flat_v4, sg_table_global_v4, sg_table_scratch_v4;

static const struct sg_optable *const avx2_tables[SG_ENC_COUNT] = {
    [SG_ENC_VOP1] = &sg_table_vop1_v3,     [SG_ENC_VOP2] = &sg_table_vop2_v3,
    [SG_ENC_VOP3] = &sg_table_vop3_v3,     [SG_ENC_VOPC] = &sg_table_vopc_v3,
    [SG_ENC_DS] = &sg_table_ds_v3,         [SG_ENC_FLAT] = &sg_table_flat_v3,
    [SG_ENC_GLOBAL] = &sg_table_global_v3, [SG_ENC_SCRATCH] = &sg_table_scratch_v3,
};
static const struct sg_optable *const avx512_tables[SG_ENC_COUNT] = {
    [SG_ENC_VOP1] = &sg_table_vop1_v4,     [SG_ENC_VOP2] = &sg_table_vop2_v4,
    [SG_ENC_VOP3] = &sg_table_vop3_v4,     [SG_ENC_VOPC] = &sg_table_vopc_v4,
    [SG_ENC_DS] = &sg_table_ds_v4,         [SG_ENC_FLAT] = &sg_table_flat_v4,
    [SG_ENC_GLOBAL] = &sg_table_global_v4, [SG_ENC_SCRATCH] = &sg_table_scratch_v4,
};

static unsigned host_paths(void)
{
    __builtin_cpu_init();
    const bool v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return SG_FAST_ALL & ~(v3 ? 0u : SG_FAST_AVX2) & ~(v4 ? 0u : SG_FAST_AVX512);
}
#else
static const struct sg_optable *const avx2_tables[SG_ENC_COUNT], *const avx512_tables[SG_ENC_COUNT];

static unsigned host_paths(void)
{
    return SG_FAST_ALL & ~(SG_FAST_AVX2 | SG_FAST_AVX512);
}
#endif

// The paths of one name of the list; all of them, with a message, for an unknown one.
static unsigned paths_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == length && !memcmp(names[i].name, name, length))
            return names[i].paths;
    fprintf(stderr, "softgpu: SOFTGPU_FAST: no fast path %.*s; using all\n", (int)length, name);
    return SG_FAST_ALL;
}

static void read_environment(void)
{
    const char *text = getenv("SOFTGPU_FAST");
    unsigned wanted = text && *text ? 0 : SG_FAST_ALL;
    while (text && *text) {
        const size_t length = strcspn(text, ",");
        wanted |= paths_of(text, length);
        text += length + (text[length] == ',');
    }
    paths = wanted & host_paths();
}

unsigned sg_fast_paths(void)
{
    pthread_once(&once, read_environment);
    return paths;
}

void sg_fast_set(unsigned wanted)
{
    pthread_once(&once, read_environment);
    paths = wanted & host_paths();
    sg_isa_invalidate(0, UINT64_MAX);
}

static const struct sg_optable *table_of(unsigned encoding)
{
    if (paths & SG_FAST_AVX512 && avx512_tables[encoding])
        return avx512_tables[encoding];
    if (paths & SG_FAST_AVX2 && avx2_tables[encoding])
        return avx2_tables[encoding];
    return sg_optables[encoding];
}

static bool is_memory(unsigned encoding)
{
    return encoding == SG_ENC_DS || encoding == SG_ENC_GLOBAL;
}

void sg_fast_choose(struct sg_inst *inst)
{
    const unsigned on = sg_fast_paths(), encoding = inst->info->encoding;
    inst->exec = table_of(encoding)->rows[inst->info - sg_optables[encoding]->rows].exec;
    inst->direct =
        is_memory(encoding) ? on & SG_FAST_MEMORY : on & SG_FAST_VECTOR && inst->mod == SG_MOD_NONE;
}
