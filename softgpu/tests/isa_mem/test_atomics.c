// SPDX-License-Identifier: MIT
// Atomics through every way to reach memory: eight lanes meet on each target, in lane order. Each operation
// is modelled here by itself.
#include "softgpu/tests/isa_mem/rig.h"

#define TARGETS   8
#define MAX_CASES 32

struct lane_data {
    uint32_t w[4];
};

typedef uint64_t (*model_fn)(uint64_t old, uint64_t data, uint64_t cmp);

struct atomic_case {
    const char *name;
    model_fn model;
    bool wide;
    bool silent; // no value comes back
    char kind;   // of operands: (i)ntegers, (f)loats, (d)oubles, (h)alf pairs
};

#define INT_MODEL(name, type, expr)                                                                          \
    static uint64_t name(uint64_t o, uint64_t d, uint64_t c)                                                 \
    {                                                                                                        \
        const type old = (type)o, data = (type)d, cmp = (type)c;                                             \
        (void)old, (void)data, (void)cmp;                                                                    \
        return (uint64_t)(expr);                                                                             \
    }
#define BOTH(name, expr)                                                                                     \
    INT_MODEL(name##_32, uint32_t, expr)                                                                     \
    INT_MODEL(name##_64, uint64_t, expr)
#define BOTH_SIGNED(name, expr)                                                                              \
    INT_MODEL(name##_32, int32_t, expr)                                                                      \
    INT_MODEL(name##_64, int64_t, expr)

BOTH(swap, data)
BOTH(cmpswap, old == cmp ? data : old)
BOTH(add, old + data)
BOTH(sub, old - data)
BOTH(rsub, data - old)
BOTH_SIGNED(smin, old < data ? old : data)
BOTH(umin, old < data ? old : data)
BOTH_SIGNED(smax, old > data ? old : data)
BOTH(umax, old > data ? old : data)
BOTH(and_bits, old &data)
BOTH(or_bits, old | data)
BOTH(xor_bits, old ^ data)
BOTH(inc, old >= data ? 0 : old + 1)
BOTH(dec, old == 0 || old > data ? data : old - 1)
BOTH(mskor, (old & ~data) | cmp)
INT_MODEL(wrap, uint32_t, old >= data ? old - data : old + cmp)

static uint64_t condxchg(uint64_t old, uint64_t data, uint64_t cmp)
{
    (void)cmp;
    uint32_t o[2], d[2];
    memcpy(o, &old, 8);
    memcpy(d, &data, 8);
    for (int i = 0; i < 2; i++)
        if (d[i] & 0x80000000u)
            o[i] = d[i] & 0x7fffffffu;
    memcpy(&old, o, 8);
    return old;
}

static uint64_t add_f32(uint64_t old, uint64_t data, uint64_t cmp)
{
    (void)cmp;
    const uint32_t bits[2] = {(uint32_t)old, (uint32_t)data};
    float v[2];
    memcpy(v, bits, 8);
    v[0] += v[1];
    uint32_t sum;
    memcpy(&sum, v, 4);
    return sum;
}

static double f64(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

static uint64_t add_f64(uint64_t old, uint64_t data, uint64_t cmp)
{
    (void)cmp;
    const double sum = f64(old) + f64(data);
    memcpy(&old, &sum, 8);
    return old;
}

static uint64_t min_f64(uint64_t old, uint64_t data, uint64_t cmp)
{
    (void)cmp;
    return f64(data) < f64(old) ? data : old;
}

static uint64_t max_f64(uint64_t old, uint64_t data, uint64_t cmp)
{
    (void)cmp;
    return f64(data) > f64(old) ? data : old;
}

// The halves of the test are small integers, whose half encoding is easy to add exactly.
static uint32_t half_of(unsigned n)
{
    if (n == 0)
        return 0;
    unsigned e = 0;
    while (n >> (e + 1))
        e++;
    return (e + 15) << 10 | ((n << 10 >> e) & 0x3ff);
}

static unsigned int_of(uint32_t half)
{
    return half == 0 ? 0 : ((half & 0x3ff) | 0x400) << ((half >> 10 & 31) - 15) >> 10;
}

static uint64_t pk_add_f16(uint64_t old, uint64_t data, uint64_t cmp)
{
    (void)cmp;
    const uint32_t low = half_of(int_of(old & 0xffff) + int_of(data & 0xffff));
    const uint32_t high = half_of(int_of(old >> 16 & 0xffff) + int_of(data >> 16 & 0xffff));
    return high << 16 | low;
}

static const struct atomic_case integer_cases[] = {
    {"swap", swap_32, false, false, 'i'},         {"cmpswap", cmpswap_32, false, false, 'i'},
    {"add", add_32, false, false, 'i'},           {"sub", sub_32, false, false, 'i'},
    {"smin", smin_32, false, false, 'i'},         {"umin", umin_32, false, false, 'i'},
    {"smax", smax_32, false, false, 'i'},         {"umax", umax_32, false, false, 'i'},
    {"and", and_bits_32, false, false, 'i'},      {"or", or_bits_32, false, false, 'i'},
    {"xor", xor_bits_32, false, false, 'i'},      {"inc", inc_32, false, false, 'i'},
    {"dec", dec_32, false, false, 'i'},           {"swap_x2", swap_64, true, false, 'i'},
    {"cmpswap_x2", cmpswap_64, true, false, 'i'}, {"add_x2", add_64, true, false, 'i'},
    {"sub_x2", sub_64, true, false, 'i'},         {"smin_x2", smin_64, true, false, 'i'},
    {"umin_x2", umin_64, true, false, 'i'},       {"smax_x2", smax_64, true, false, 'i'},
    {"umax_x2", umax_64, true, false, 'i'},       {"and_x2", and_bits_64, true, false, 'i'},
    {"or_x2", or_bits_64, true, false, 'i'},      {"xor_x2", xor_bits_64, true, false, 'i'},
    {"inc_x2", inc_64, true, false, 'i'},         {"dec_x2", dec_64, true, false, 'i'},
};
static const struct atomic_case float_cases[] = {
    {"add_f32", add_f32, false, false, 'f'}, {"pk_add_f16", pk_add_f16, false, false, 'h'},
    {"add_f64", add_f64, true, false, 'd'},  {"min_f64", min_f64, true, false, 'd'},
    {"max_f64", max_f64, true, false, 'd'},
};
static const struct atomic_case float_ds_cases[] = {
    {"add_f32", add_f32, false, false, 'f'},
    {"add_f64", add_f64, true, false, 'd'},
    {"min_f64", min_f64, true, false, 'd'},
    {"max_f64", max_f64, true, false, 'd'},
};
static const struct atomic_case ds_cases[] = {
    {"rsub", rsub_32, false, false, 'i'},    {"mskor", mskor_32, false, false, 'i'},
    {"wrap", wrap, false, false, 'i'},       {"rsub64", rsub_64, true, false, 'i'},
    {"mskor64", mskor_64, true, false, 'i'}, {"condxchg", condxchg, true, false, 'i'},
    {"wrxchg2", NULL, true, false, 'i'},     {"add", add_32, false, true, 'i'},
    {"xor64", xor_bits_64, true, true, 'i'},
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static uint64_t low_part(const struct atomic_case *c, uint64_t v)
{
    return c->wide ? v : (uint32_t)v;
}

static void operands(const struct atomic_case *c, const struct lane_data *lane, uint64_t *data, uint64_t *cmp)
{
    *data = c->wide ? lane->w[0] | (uint64_t)lane->w[1] << 32 : lane->w[0];
    *cmp = c->wide ? lane->w[2] | (uint64_t)lane->w[3] << 32 : lane->w[1];
}

// One launch runs all cases of a kernel on the same operands; those of other kinds are not looked at.
static void check(const char *kernel, const struct atomic_case *cases, size_t n, char kind,
                  const struct lane_data *in, const uint64_t initial[MAX_CASES][TARGETS])
{
    static uint64_t old[MAX_CASES][LANES], memory[MAX_CASES][TARGETS];
    memcpy(memory, initial, sizeof memory);
    memset(old, 0xee, sizeof old);
    struct rig rig;
    rig_begin(&rig, kernel, in, old, memory);
    rig_run(&rig);
    for (size_t i = 0; i < n; i++) {
        const struct atomic_case *c = &cases[i];
        if (c->kind != kind)
            continue;
        uint64_t want[TARGETS];
        memcpy(want, initial[i], sizeof want);
        for (unsigned lane = 0; lane < LANES; lane++) {
            uint64_t *target = &want[lane % TARGETS], data, cmp;
            operands(c, &in[lane], &data, &cmp);
            if (!c->silent && low_part(c, old[i][lane]) != low_part(c, *target))
                fail_msg("%s %s lane %u returned %llx instead of %llx", kernel, c->name, lane,
                         (unsigned long long)old[i][lane], (unsigned long long)*target);
            const uint64_t now = c->model ? c->model(*target, data, cmp) : data;
            *target = c->wide ? now : (*target & ~UINT64_C(0xffffffff)) | (uint32_t)now;
        }
        for (unsigned t = 0; t < TARGETS; t++)
            if (memory[i][t] != want[t])
                fail_msg("%s %s target %u is %llx instead of %llx", kernel, c->name, t,
                         (unsigned long long)memory[i][t], (unsigned long long)want[t]);
    }
}

static void integers(const char *kernel, const struct atomic_case *cases, size_t n)
{
    struct lane_data in[LANES];
    uint64_t initial[MAX_CASES][TARGETS];
    uint32_t seed = 99;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < 4; i++)
            in[lane].w[i] = rig_noise(&seed);
    for (unsigned i = 0; i < MAX_CASES; i++)
        for (unsigned t = 0; t < TARGETS; t++)
            initial[i][t] = rig_noise(&seed) | (uint64_t)rig_noise(&seed) << 32;
    // Some compares must succeed: the first lane of each target expects what is there.
    for (unsigned t = 0; t < TARGETS; t++) {
        initial[1][t] = (initial[1][t] & ~UINT64_C(0xffffffff)) | in[t].w[1];
        initial[14][t] = in[t].w[2] | (uint64_t)in[t].w[3] << 32;
        initial[11][t] = 0; // inc and dec near their ends
        initial[12][t] = t;
    }
    check(kernel, cases, n, 'i', in, (const uint64_t(*)[TARGETS])initial);
}

// The bits of a number in the format of `kind`.
static uint64_t bits_of(char kind, double value)
{
    const float single = (float)value;
    uint64_t bits = 0;
    if (kind == 'd')
        memcpy(&bits, &value, 8);
    else if (kind == 'f')
        memcpy(&bits, &single, 4);
    else
        bits = half_of((unsigned)value) << 16 | half_of((unsigned)value * 2);
    return bits;
}

static void floats(const char *kernel, const struct atomic_case *cases, size_t n)
{
    static const char kinds[] = {'f', 'd', 'h'};
    struct lane_data in[LANES];
    uint64_t initial[MAX_CASES][TARGETS];
    for (size_t k = 0; k < sizeof kinds; k++) {
        memset(in, 0, sizeof in);
        memset(initial, 0, sizeof initial);
        for (unsigned lane = 0; lane < LANES; lane++) {
            const uint64_t bits = bits_of(kinds[k], kinds[k] == 'h' ? lane : lane * 0.37 - 10);
            memcpy(in[lane].w, &bits, 8);
        }
        for (size_t i = 0; i < n; i++)
            for (unsigned t = 0; t < TARGETS; t++)
                initial[i][t] = bits_of(kinds[k], kinds[k] == 'h' ? t : t * 1.25 - 3);
        check(kernel, cases, n, kinds[k], in, (const uint64_t(*)[TARGETS])initial);
    }
}

#define INTEGER_TEST(way)                                                                                    \
    static void atomics_##way(void **state)                                                                  \
    {                                                                                                        \
        (void)state;                                                                                         \
        integers("atomic_" #way, integer_cases, COUNT(integer_cases));                                       \
    }
INTEGER_TEST(global)
INTEGER_TEST(flat)
INTEGER_TEST(buffer)
INTEGER_TEST(ds)
INTEGER_TEST(flat_lds)

static void only_ds(void **state)
{
    (void)state;
    integers("ds_atomic_more", ds_cases, COUNT(ds_cases));
}

static void floats_global(void **state)
{
    (void)state;
    floats("float_atomic_global", float_cases, COUNT(float_cases));
}

static void floats_buffer(void **state)
{
    (void)state;
    floats("float_atomic_buffer", float_cases, COUNT(float_cases));
}

static void floats_ds(void **state)
{
    (void)state;
    floats("float_atomic_ds", float_ds_cases, COUNT(float_ds_cases));
}

static void floats_flat(void **state)
{
    (void)state;
    floats("float_atomic_flat", float_ds_cases + 1, COUNT(float_ds_cases) - 1);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics_global),   cmocka_unit_test(atomics_flat),
        cmocka_unit_test(atomics_buffer),   cmocka_unit_test(atomics_ds),
        cmocka_unit_test(atomics_flat_lds), cmocka_unit_test(only_ds),
        cmocka_unit_test(floats_global),    cmocka_unit_test(floats_buffer),
        cmocka_unit_test(floats_ds),        cmocka_unit_test(floats_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
