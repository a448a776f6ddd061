// SPDX-License-Identifier: MIT
// Atomic memory operations: what each computes, done with host atomics so that the host and other queues see
// whole steps. Lanes run in ascending order, which makes results repeatable. Source: "AMD Instinct MI200
// Instruction Set Architecture", FLAT, MUBUF and DS instruction lists. That 32-bit float adds on global
// memory treat denormals as zero is how LLVM's AMDGPU back end describes them.
#include "softgpu/isa/memory.h"

#include <math.h>

static float flush32(float v, bool flush)
{
    return flush && fpclassify(v) == FP_SUBNORMAL ? copysignf(0.0f, v) : v;
}

static float as_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

static double as_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

static uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

static uint64_t double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

static float half_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, mantissa = h & 0x3ff;
    const unsigned exponent = h >> 10 & 31;
    if (exponent == 31)
        return as_float(sign | 0x7f800000 | mantissa << 13);
    if (exponent == 0)
        return copysignf(ldexpf((float)mantissa, -24), as_float(sign | 0x3f800000));
    return as_float(sign | (exponent + 112) << 23 | mantissa << 13);
}

// Round to nearest even.
static uint16_t float_to_half(float v)
{
    const uint32_t bits = float_bits(v);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (isnan(v))
        return sign | 0x7e00 | (uint16_t)(bits >> 13 & 0x3ff);
    const float magnitude = fabsf(v);
    if (magnitude >= 65520.0f)
        return sign | 0x7c00;
    if (magnitude < 0x1p-14f)
        return sign | (uint16_t)lrintf(magnitude * 0x1p24f);
    const uint32_t m = bits & 0x7fffffff;
    return sign | (uint16_t)((m - (112u << 23) + 0xfff + (m >> 13 & 1)) >> 13);
}

static uint32_t add_half_pairs(uint32_t a, uint32_t b)
{
    // The sum of two halves rounded to float and then to half is the sum rounded once: 24 >= 2 * 11 + 2 bits.
    const uint16_t low = float_to_half(half_to_float((uint16_t)a) + half_to_float((uint16_t)b));
    const uint16_t high =
        float_to_half(half_to_float((uint16_t)(a >> 16)) + half_to_float((uint16_t)(b >> 16)));
    return (uint32_t)high << 16 | low;
}

uint32_t sg_combine32(enum sg_atomic_op op, uint32_t old, uint32_t data, uint32_t cmp, bool flush)
{
    switch (op) {
    case SG_ATOMIC_SWAP:
        return data;
    case SG_ATOMIC_CMPSWAP:
        return old == cmp ? data : old;
    case SG_ATOMIC_ADD:
        return old + data;
    case SG_ATOMIC_SUB:
        return old - data;
    case SG_ATOMIC_RSUB:
        return data - old;
    case SG_ATOMIC_SMIN:
        return (int32_t)data < (int32_t)old ? data : old;
    case SG_ATOMIC_UMIN:
        return data < old ? data : old;
    case SG_ATOMIC_SMAX:
        return (int32_t)data > (int32_t)old ? data : old;
    case SG_ATOMIC_UMAX:
        return data > old ? data : old;
    case SG_ATOMIC_AND:
        return old & data;
    case SG_ATOMIC_OR:
        return old | data;
    case SG_ATOMIC_XOR:
        return old ^ data;
    case SG_ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case SG_ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    case SG_ATOMIC_FADD:
        return float_bits(flush32(flush32(as_float(old), flush) + flush32(as_float(data), flush), flush));
    case SG_ATOMIC_FMIN:
        return as_float(data) < as_float(old) ? data : old;
    case SG_ATOMIC_FMAX:
        return as_float(data) > as_float(old) ? data : old;
    case SG_ATOMIC_PK_ADD_F16:
        return add_half_pairs(old, data);
    case SG_ATOMIC_MSKOR: // cmp holds the bits to set, data the mask of those to clear
        return (old & ~data) | cmp;
    case SG_ATOMIC_FCMPSWAP:
        return as_float(old) == as_float(cmp) ? data : old;
    case SG_ATOMIC_WRAP:
        return old >= data ? old - data : old + cmp;
    case SG_ATOMIC_CONDXCHG:
        break;
    }
    return old;
}

uint64_t sg_combine64(enum sg_atomic_op op, uint64_t old, uint64_t data, uint64_t cmp)
{
    switch (op) {
    case SG_ATOMIC_SWAP:
        return data;
    case SG_ATOMIC_CMPSWAP:
        return old == cmp ? data : old;
    case SG_ATOMIC_ADD:
        return old + data;
    case SG_ATOMIC_SUB:
        return old - data;
    case SG_ATOMIC_RSUB:
        return data - old;
    case SG_ATOMIC_SMIN:
        return (int64_t)data < (int64_t)old ? data : old;
    case SG_ATOMIC_UMIN:
        return data < old ? data : old;
    case SG_ATOMIC_SMAX:
        return (int64_t)data > (int64_t)old ? data : old;
    case SG_ATOMIC_UMAX:
        return data > old ? data : old;
    case SG_ATOMIC_AND:
        return old & data;
    case SG_ATOMIC_OR:
        return old | data;
    case SG_ATOMIC_XOR:
        return old ^ data;
    case SG_ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case SG_ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    case SG_ATOMIC_FADD:
        return double_bits(as_double(old) + as_double(data));
    case SG_ATOMIC_FMIN:
        return as_double(data) < as_double(old) ? data : old;
    case SG_ATOMIC_FMAX:
        return as_double(data) > as_double(old) ? data : old;
    case SG_ATOMIC_MSKOR:
        return (old & ~data) | cmp;
    case SG_ATOMIC_FCMPSWAP:
        return as_double(old) == as_double(cmp) ? data : old;
    case SG_ATOMIC_CONDXCHG: { // each half has its own write enable in bit 31 of the data
        const uint64_t low = data & 0x80000000u ? data & 0x7fffffffu : old & 0xffffffffu;
        const uint64_t high = data >> 63 ? data >> 32 & 0x7fffffffu : old >> 32;
        return high << 32 | low;
    }
    case SG_ATOMIC_PK_ADD_F16:
    case SG_ATOMIC_WRAP:
        break;
    }
    return old;
}

uint32_t sg_atomic32(enum sg_atomic_op op, uint32_t *p, uint32_t data, uint32_t cmp)
{
    switch (op) {
    case SG_ATOMIC_SWAP:
        return __atomic_exchange_n(p, data, __ATOMIC_SEQ_CST);
    case SG_ATOMIC_ADD:
        return __atomic_fetch_add(p, data, __ATOMIC_SEQ_CST);
    case SG_ATOMIC_SUB:
        return __atomic_fetch_sub(p, data, __ATOMIC_SEQ_CST);
    default:
        break;
    }
    uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, sg_combine32(op, old, data, cmp, true), true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
    return old;
}

uint64_t sg_atomic64(enum sg_atomic_op op, uint64_t *p, uint64_t data, uint64_t cmp)
{
    switch (op) {
    case SG_ATOMIC_SWAP:
        return __atomic_exchange_n(p, data, __ATOMIC_SEQ_CST);
    case SG_ATOMIC_ADD:
        return __atomic_fetch_add(p, data, __ATOMIC_SEQ_CST);
    case SG_ATOMIC_SUB:
        return __atomic_fetch_sub(p, data, __ATOMIC_SEQ_CST);
    default:
        break;
    }
    uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, sg_combine64(op, old, data, cmp), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
        ;
    return old;
}

static uint64_t pair(const struct sg_wave *w, unsigned row, unsigned lane)
{
    return (uint64_t)w->vgpr[row + 1][lane] << 32 | w->vgpr[row][lane];
}

enum sg_step sg_lanes_atomic(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                             unsigned src, unsigned dst, unsigned op, bool returns)
{
    const bool wide = op & SG_ATOMIC_64;
    const enum sg_atomic_op kind = (enum sg_atomic_op)(op & ~SG_ATOMIC_64);
    SG_EACH_LANE(lane, lanes->mask)
    {
        void *p = lanes->ptr[lane];
        if ((uintptr_t)p & (wide ? 7 : 3))
            return sg_wave_fault(w, inst, SG_FAULT_MEMORY, (uintptr_t)p,
                                 "atomic on misaligned address, lane %u", (unsigned)lane);
        if (wide) {
            const uint64_t cmp = kind == SG_ATOMIC_CMPSWAP ? pair(w, src + 2, lane) : 0;
            const uint64_t old = sg_atomic64(kind, p, pair(w, src, lane), cmp);
            if (returns) {
                w->vgpr[dst][lane] = (uint32_t)old;
                w->vgpr[dst + 1][lane] = (uint32_t)(old >> 32);
            }
            continue;
        }
        const uint32_t cmp = kind == SG_ATOMIC_CMPSWAP ? w->vgpr[src + 1][lane] : 0;
        const uint32_t old = sg_atomic32(kind, p, w->vgpr[src][lane], cmp);
        if (returns)
            w->vgpr[dst][lane] = old;
    }
    sg_lanes_finish(lanes);
    return returns ? sg_polled(w) : SG_STEP_OK;
}
