// SPDX-License-Identifier: MIT
// Typed buffer accesses (MTBUF, and MUBUF with a format) in every format, width and half form, and image atomics,
// against a plain model. The instructions are the assembler's, put into the frames of typed.s.
#include "softgpu/tests/isa_mem/rig.h"

#include <math.h>
#include <stdio.h>

enum { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT = 7 };
enum { RECORD = 16, DEFINED = 48 }; // bytes of a lane; lanes whose record lies inside of the buffer
#define IDENTITY 0xfacu             // selectors x, y, z, w

struct format {
    unsigned data, number, components, bits;
};

static struct format format_of(unsigned data, unsigned number)
{
    static const struct {
        uint8_t components, bits;
    } layouts[16] = {[1] = {1, 8},  [2] = {1, 16},  [3] = {2, 8},   [4] = {1, 32},  [5] = {2, 16},
                     [10] = {4, 8}, [11] = {2, 32}, [12] = {4, 16}, [13] = {3, 32}, [14] = {4, 32}};
    struct format f = {data, number, layouts[data].components, layouts[data].bits};
    const bool integer = number == UINT || number == SINT;
    if (number == 6 || (number == FLOAT && f.bits == 8) || (number != FLOAT && !integer && f.bits == 32))
        f.components = 0;
    return f;
}

static uint32_t noise(void)
{
    static uint32_t seed = 0x2468ace1;
    return rig_noise(&seed);
}

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t float_bits(double d)
{
    const float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static double f16_value(uint32_t h)
{
    const int e = h >> 10 & 31, m = h & 0x3ff;
    const double magnitude = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

// Nearest f16, ties to even.
static uint32_t f16_bits(double d)
{
    const uint32_t sign = signbit(d) ? 0x8000 : 0;
    const double x = fabs(d);
    if (isnan(d))
        return 0x7e00;
    if (x >= 65520)
        return sign | 0x7c00;
    const int e = x < 0x1p-14 ? -14 : ilogb(x);
    const unsigned m = (unsigned)rint(ldexp(x, 10 - e)); // 1024 and above: normal
    return sign | (m < 1024 ? m : ((unsigned)(e + 14) << 10) + m);
}

// ---- model ------------------------------------------------------------------------------------------------

static uint32_t raw_component(const struct format *f, const uint8_t *at, unsigned i)
{
    uint32_t v = 0;
    memcpy(&v, at + i * f->bits / 8, f->bits / 8);
    return v;
}

static int64_t as_signed(uint32_t v, unsigned bits)
{
    return v >> (bits - 1) & 1 ? (int64_t)v - ((int64_t)1 << bits) : (int64_t)v;
}

static bool is_integer(const struct format *f)
{
    return f->number == UINT || f->number == SINT;
}

static double max_of(const struct format *f)
{
    return ldexp(1, (int)f->bits - (f->number == SNORM || f->number == SSCALED || f->number == SINT)) - 1;
}

// A component as the shader sees it: integers as numbers.
static double loaded(const struct format *f, uint32_t v)
{
    switch (f->number) {
    case UNORM:
        return v / max_of(f);
    case SNORM:
        return fmax((double)as_signed(v, f->bits) / max_of(f), -1);
    case USCALED:
    case UINT:
        return v;
    case SSCALED:
    case SINT:
        return (double)as_signed(v, f->bits);
    default:
        return f->bits == 16 ? f16_value(v) : (double)as_float(v);
    }
}

static uint32_t register_bits(const struct format *f, double value, bool half)
{
    if (is_integer(f))
        return (uint32_t)(int64_t)value & (half ? 0xffff : UINT32_MAX);
    return half ? f16_bits((float)value) : float_bits(value);
}

// What the shader gets of component i: selectors 0 and 1 are constants, from 4 on components of memory.
static uint32_t expected(const struct format *f, const uint8_t *at, unsigned selectors, unsigned i, bool half)
{
    const unsigned s = selectors >> (3 * i) & 7;
    double value = s == 1;
    if (s >= 4)
        value = s - 4 < f->components ? loaded(f, raw_component(f, at, s - 4)) : 0;
    return register_bits(f, value, half);
}

static bool same(const struct format *f, uint32_t got, uint32_t want, bool half)
{
    if (got == want || is_integer(f))
        return got == want;
    return half ? isnan(f16_value(got)) && isnan(f16_value(want))
                : isnan(as_float(got)) && isnan(as_float(want));
}

static uint32_t stored(const struct format *f, uint32_t bits, bool half)
{
    const double max = max_of(f);
    if (f->number == UINT)
        return bits < max ? bits : (uint32_t)max;
    if (f->number == SINT) {
        const double v = (double)as_signed(bits, half ? 16 : 32);
        return (uint32_t)(int64_t)fmin(fmax(v, -max - 1), max);
    }
    const double v = half ? f16_value(bits) : (double)as_float(bits);
    if (f->number == FLOAT)
        return f->bits == 16 ? f16_bits(v) : float_bits(v);
    if (isnan(v))
        return 0;
    const double scale = f->number == UNORM || f->number == SNORM ? max : 1;
    const double least = f->number == SNORM ? -max : f->number == SSCALED ? -max - 1 : 0;
    return (uint32_t)(int64_t)rint(fmin(fmax(v * scale, least), max));
}

// ---- frames -----------------------------------------------------------------------------------------------

static void put(const char *where, const uint32_t words[2])
{
    memcpy((void *)(uintptr_t)rig_kernel(where), words, 8);
}

static void instruction(const char *list, unsigned n, uint32_t words[2])
{
    memcpy(words, (const uint8_t *)(uintptr_t)rig_kernel(list) + 8 * n, 8);
}

// One access form: whether the format is the instruction's, its place in the list, what it moves.
struct form {
    bool own_format;
    unsigned place, components;
    bool half, high;
};

static struct form form_of(unsigned n)
{
    if (n == 16)
        return (struct form){.place = 8, .components = 1, .half = true, .high = true};
    return (struct form){.own_format = n >= 8, .place = n % 8, .components = n % 4 + 1, .half = n % 8 >= 4};
}
#define FORMS 17

static void begin(struct rig *rig, const char *kernel, struct form form, const struct format *f,
                  unsigned selectors, void *buffer, const void *in, void *out)
{
    char list[32], where[32];
    const char *what = kernel + strlen("typed_");
    snprintf(list, sizeof list, "%s_%ss", form.own_format ? "mtbuf" : "mubuf", what);
    snprintf(where, sizeof where, "%s_here", kernel);
    uint32_t words[2], format[2], plain[2];
    instruction(list, form.place, words);
    if (form.own_format) { // the lists were assembled with format 0
        instruction("mtbuf_formats", f->data * 8 + f->number, format);
        instruction("mtbuf_formats", 0, plain);
        words[0] |= format[0] ^ plain[0];
    }
    put(where, words);
    rig_begin(rig, kernel, in, out, NULL);
    rig->launch.rsrc1 |= 0xf0u << 12; // all denormals
    const uint32_t own = f->data << 15 | f->number << 12 | selectors, other = 4u << 15 | 4u << 12 | 0x249;
    const uint32_t resource[4] = {(uint32_t)(uintptr_t)buffer, (uint32_t)((uintptr_t)buffer >> 32),
                                  DEFINED * RECORD + 1, form.own_format ? other : own};
    memcpy(rig->args.resource, resource, sizeof resource);
}

static void fill(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(noise() >> 8);
}

static void check_load(struct form form, const struct format *f, unsigned selectors)
{
    static uint8_t in[LANES * RECORD];
    static uint32_t out[LANES][4];
    fill(in, sizeof in);
    for (unsigned i = 0; i < 32; i++) // all zeros, all ones
        in[i] = i < 16 ? 0 : 0xff;
    struct rig rig;
    begin(&rig, "typed_load", form, f, selectors, in, NULL, out);
    rig_run(&rig);
    if (form.own_format)
        selectors = IDENTITY;
    static const uint8_t outside[RECORD];
    for (unsigned lane = 0; lane < LANES; lane++) {
        // A byte of record DEFINED is inside: enough for the smallest format alone.
        const bool inside = lane < DEFINED || (lane == DEFINED && f->components * f->bits == 8);
        const uint8_t *at = inside ? in + RECORD * lane : outside;
        uint32_t got[4];
        for (unsigned i = 0; i < form.components; i++) {
            const unsigned shift = form.half && (i % 2 || form.high) ? 16 : 0;
            got[i] = form.half ? out[lane][i / 2] >> shift & 0xffff : out[lane][i];
            const uint32_t want = expected(f, at, selectors, i, form.half);
            if (!same(f, got[i], want, form.half))
                fail_msg("load form %u/%u format %u/%u lane %u component %u: %08x, not %08x", form.own_format,
                         form.place, f->data, f->number, lane, i, got[i], want);
        }
        // Registers, and the half of one, that get nothing.
        const unsigned halves = form.half ? form.components : 2 * form.components;
        for (unsigned i = form.high ? 0 : halves; i < 8; i++) {
            if (form.high && i == 1)
                continue;
            const unsigned shift = i % 2 ? 16 : 0;
            assert_int_equal(out[lane][i / 2] >> shift & 0xffff, SENTINEL >> shift & 0xffff);
        }
    }
}

// Operands of a store: in range, at its ends, and bits of all kinds.
static uint32_t operand(const struct format *f, unsigned lane, bool half)
{
    static const float special[] = {0, -0.0f, 1, -1, 1.5f, -3, 0.5f, 65519, 65536, 3e9f, -3e9f, 1e-7f};
    double v;
    if (lane < 12)
        v = (double)special[lane];
    else if (lane < 14)
        v = lane & 1 ? NAN : INFINITY;
    else
        v = ((double)noise() / 0x1p31 - 1) * (f->number == USCALED || f->number == SSCALED ? 40000 : 1.1);
    if (is_integer(f)) {
        const uint32_t bits =
            lane < 8 ? (uint32_t)(1u << (4 * lane)) - (lane & 1) : noise() >> (noise() & 31);
        return half ? bits & 0xffff : bits;
    }
    return half ? f16_bits(v) : float_bits(v);
}

static void check_store(struct form form, const struct format *f, unsigned selectors)
{
    static uint32_t in[LANES][4];
    static uint8_t out[LANES * RECORD];
    uint32_t component[LANES][4] = {{0}};
    memset(out, 0x55, sizeof out);
    memset(in, 0x77, sizeof in);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < form.components; i++) {
            const uint32_t v = component[lane][i] = operand(f, lane, form.half);
            const unsigned shift = i % 2 || form.high ? 16 : 0;
            if (form.half)
                in[lane][i / 2] = (in[lane][i / 2] & ~(0xffffu << shift)) | v << shift;
            else
                in[lane][i] = v;
        }
    struct rig rig;
    begin(&rig, "typed_store", form, f, selectors, out, in, NULL);
    rig_run(&rig);
    if (form.own_format)
        selectors = IDENTITY;
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint8_t want[RECORD];
        memset(want, 0x55, sizeof want);
        const bool inside = lane < DEFINED || (lane == DEFINED && f->components * f->bits == 8);
        for (unsigned c = 0; inside && c < f->components; c++) {
            uint32_t v = 0; // the first selector that names the component
            for (unsigned i = 4; i-- > 0;)
                if ((selectors >> (3 * i) & 7) == 4 + c)
                    v = stored(f, component[lane][i], form.half);
            memcpy(want + c * f->bits / 8, &v, f->bits / 8);
        }
        if (memcmp(want, out + lane * RECORD, RECORD) != 0)
            fail_msg("store form %u/%u format %u/%u lane %u: %02x%02x of %08x, not %02x%02x", form.own_format,
                     form.place, f->data, f->number, lane, out[lane * RECORD + 1], out[lane * RECORD],
                     in[lane][0], want[1], want[0]);
    }
}

static void each_format(void (*check)(struct form, const struct format *, unsigned))
{
    static const unsigned selectors[] = {IDENTITY, 7 | 6 << 3 | 5 << 6 | 4 << 9,
                                         4 | 0 << 3 | 1 << 6 | 1 << 9};
    for (unsigned data = 0; data < 16; data++)
        for (unsigned number = 0; number < 8; number++) {
            const struct format f = format_of(data, number);
            for (unsigned n = 0; f.components && n < FORMS; n++)
                check(form_of(n), &f, selectors[(data + number + n) % 3]);
        }
}

static void loads(void **state)
{
    (void)state;
    each_format(check_load);
}

static void stores(void **state)
{
    (void)state;
    each_format(check_store);
}

static void other_formats_are_refused(void **state)
{
    (void)state;
    static uint8_t memory[LANES * RECORD];
    for (unsigned data = 0; data < 16; data++)
        for (unsigned number = 0; number < 8; number++) {
            const struct format f = format_of(data, number);
            for (unsigned n = 0; !f.components && n < FORMS; n++) {
                struct rig rig;
                begin(&rig, n & 1 ? "typed_load" : "typed_store", form_of(n), &f, IDENTITY, memory, memory,
                      memory);
                rig_run_fault(&rig, SG_FAULT_ILLEGAL);
                assert_non_null(strstr(rig.fault.text, "buffer format"));
            }
        }
}

// ---- image atomics ----------------------------------------------------------------------------------------

enum { WIDTH = 6, HEIGHT = 3, PITCH = 8, OPS = 13 };

// In the order of the list; signed minimum and maximum by shifting the range.
static uint64_t combine(unsigned op, uint64_t old, uint64_t data, uint64_t compare, uint64_t sign)
{
    switch (op) {
    case 0:
        return data;
    case 1:
        return old + data;
    case 2:
        return old - data;
    case 3:
        return (old ^ sign) < (data ^ sign) ? old : data;
    case 4:
        return old < data ? old : data;
    case 5:
        return (old ^ sign) > (data ^ sign) ? old : data;
    case 6:
        return old > data ? old : data;
    case 7:
        return old & data;
    case 8:
        return old | data;
    case 9:
        return old ^ data;
    case 10:
        return old >= data ? 0 : old + 1;
    case 11:
        return old == 0 || old > data ? data : old - 1;
    default:
        return old == compare ? data : old;
    }
}

static void image_resource(uint32_t t[8], const void *base, unsigned data_format, unsigned number_format)
{
    const uint64_t at = (uintptr_t)base;
    memset(t, 0, 32);
    t[0] = (uint32_t)(at >> 8);
    t[1] = (uint32_t)(at >> 40) | data_format << 20 | number_format << 26;
    t[2] = (WIDTH - 1) | (HEIGHT - 1) << 14;
    t[3] = IDENTITY | 9u << 28; // two dimensions
    t[4] = (PITCH - 1) << 13;
}

static void check_image_atomic(unsigned op, bool wide)
{
    static uint64_t image[HEIGHT * PITCH] __attribute__((aligned(256)));
    static uint32_t in[LANES][4], out[LANES][4];
    const unsigned bytes = wide ? 8 : 4, place = op + (wide ? OPS : 0);
    const uint64_t keep = wide ? UINT64_MAX : UINT32_MAX, sign = wide ? 1ull << 63 : 1u << 31;
    uint64_t want[HEIGHT * PITCH] = {0};
    uint8_t *const texels = (uint8_t *)image;
    uint32_t words[2], resource[8];
    for (unsigned i = 0; i < HEIGHT * PITCH; i++) {
        want[i] = (i & 3 ? (uint64_t)noise() << 32 | noise() : i) & keep;
        memcpy(texels + (size_t)i * bytes, &want[i], bytes);
    }
    instruction("image_atomics", place, words);
    put("image_atomic_here", words);
    image_resource(resource, image, wide ? 11 : 4, UINT);
    uint64_t old[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) { // lanes in order: two of them work on each texel
        const unsigned x = lane % 8, y = lane / 8 % 4;
        const bool inside = x < WIDTH && y < HEIGHT;
        uint64_t *texel = &want[inside ? y * PITCH + x : 0];
        const uint64_t data = (lane & 1 ? noise() : (uint64_t)noise() << 32 | noise()) & keep;
        const uint64_t compare = inside && lane % 3 ? *texel : data;
        memcpy(in[lane], &data, bytes);
        memcpy((uint8_t *)in[lane] + bytes, &compare, bytes);
        old[lane] = inside ? *texel : 0;
        if (inside)
            *texel = combine(op, *texel, data, compare, sign) & keep;
    }
    struct rig rig;
    rig_begin(&rig, "image_atomic", in, out, resource);
    rig_run(&rig);
    for (unsigned i = 0; i < HEIGHT * PITCH; i++)
        if (memcmp(&want[i], texels + (size_t)i * bytes, bytes) != 0)
            fail_msg("image atomic %u of %u bytes: texel %u", op, bytes, i);
    for (unsigned lane = 0; lane < LANES; lane++)
        if (memcmp(&old[lane], out[lane], bytes) != 0)
            fail_msg("image atomic %u of %u bytes: value before in lane %u", op, bytes, lane);
}

static void image_atomics(void **state)
{
    (void)state;
    for (unsigned op = 0; op < OPS; op++) {
        check_image_atomic(op, false);
        check_image_atomic(op, true);
    }
}

// What fits no word of the texel is an error, and memory stays.
static void image_atomics_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        unsigned data_format, place, mask;
    } cases[] = {{1, 1, 1}, {5, 1, 1}, {12, OPS + 1, 3}, {4, OPS + 1, 3}, {11, 1, 1}, {4, 1, 7}, {4, 1, 0}};
    static uint32_t image[HEIGHT * PITCH * 2] __attribute__((aligned(256))), data[LANES][4];
    memset(data, 0xff, sizeof data);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t words[2], resource[8];
        instruction("image_atomics", cases[i].place, words);
        words[0] = (words[0] & ~0xf00u) | cases[i].mask << 8;
        put("image_atomic_here", words);
        image_resource(resource, image, cases[i].data_format, UINT);
        struct rig rig;
        rig_begin(&rig, "image_atomic", data, data, resource);
        rig_run_fault(&rig, SG_FAULT_ILLEGAL);
        assert_non_null(strstr(rig.fault.text, "image atomic"));
        for (size_t k = 0; k < sizeof image / sizeof image[0]; k++)
            assert_int_equal(image[k], 0);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),
        cmocka_unit_test(stores),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(image_atomics),
        cmocka_unit_test(image_atomics_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
