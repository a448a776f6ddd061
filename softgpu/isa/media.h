// SPDX-License-Identifier: MIT
// Helpers of the byte-wise and cube-map operations: sums of absolute differences, byte permutation, cube
// faces.
#ifndef SG_MEDIA_H
#define SG_MEDIA_H

#include <stdbool.h>
#include <stdint.h>

// Sum of absolute differences of four bytes; `masked` leaves out bytes where the reference b is zero.
static inline uint32_t sg_sad_u8(uint32_t a, uint32_t b, bool masked)
{
    uint32_t sum = 0;
    for (unsigned at = 0; at < 32; at += 8) {
        const int32_t x = a >> at & 0xff, y = b >> at & 0xff;
        sum += masked && !y ? 0 : (uint32_t)(x > y ? x - y : y - x);
    }
    return sum;
}

static inline uint32_t sg_sad_u16(uint32_t a, uint32_t b)
{
    const uint32_t al = a & 0xffff, bl = b & 0xffff, ah = a >> 16, bh = b >> 16;
    return (al > bl ? al - bl : bl - al) + (ah > bh ? ah - bh : bh - ah);
}

// Average of unsigned bytes, rounding up where the low bit of the byte in `rounding` is set.
static inline uint32_t sg_lerp_u8(uint32_t a, uint32_t b, uint32_t rounding)
{
    uint32_t r = 0;
    for (unsigned at = 0; at < 32; at += 8)
        r |= (((a >> at & 0xff) + (b >> at & 0xff) + (rounding >> at & 1)) >> 1) << at;
    return r;
}

// V_PERM_B32: byte selectors 0..7 pick from high:low, 8..11 replicate a sign bit, 12 is zero, above all ones.
static inline uint32_t sg_perm(uint32_t high, uint32_t low, uint32_t selectors)
{
    const uint64_t bytes = (uint64_t)high << 32 | low;
    uint32_t r = 0;
    for (unsigned at = 0; at < 32; at += 8) {
        const uint32_t sel = selectors >> at & 0xff;
        uint32_t byte;
        if (sel < 8)
            byte = (uint32_t)(bytes >> (8 * sel)) & 0xff;
        else if (sel < 12)
            byte = bytes >> (16 * (sel - 8) + 15) & 1 ? 0xff : 0;
        else
            byte = sel == 12 ? 0 : 0xff;
        r |= byte << at;
    }
    return r;
}

// Cube map face (0..5 = +x -x +y -y +z -z) and the coordinates on it.
static inline float sg_cube_id(float x, float y, float z)
{
    const float ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, az = z < 0 ? -z : z;
    if (az >= ax && az >= ay)
        return z < 0 ? 5.0f : 4.0f;
    if (ay >= ax)
        return y < 0 ? 3.0f : 2.0f;
    return x < 0 ? 1.0f : 0.0f;
}

static inline float sg_cube_ma(float x, float y, float z)
{
    const float id = sg_cube_id(x, y, z);
    return 2.0f * (id >= 4.0f ? z : id >= 2.0f ? y : x);
}

static inline float sg_cube_sc(float x, float y, float z)
{
    const float id = sg_cube_id(x, y, z);
    if (id >= 4.0f)
        return z < 0 ? -x : x;
    if (id >= 2.0f)
        return x;
    return x < 0 ? z : -z;
}

static inline float sg_cube_tc(float x, float y, float z)
{
    const float id = sg_cube_id(x, y, z);
    if (id < 4.0f && id >= 2.0f)
        return y < 0 ? -z : z;
    return -y;
}

#endif
