// SPDX-License-Identifier: MIT
// Exchange between the lanes of a wave: every shuffle, widths, 64-bit values, votes, permutes, DPP and
// swizzle.
#include "check.hpp"

constexpr int LANES = 64, RESULTS = 22;

template <int control> __device__ int dpp(int v)
{
    return __builtin_amdgcn_update_dpp(-1, v, control, 0xf, 0xf, false);
}

__global__ void exchange(const int *in, int *out)
{
    const int lane = threadIdx.x, v = in[lane];
    int r = 0;
    const auto put = [&](int x) { out[r++ * LANES + lane] = x; };
    put(__shfl(v, 17));
    put(__shfl(v, (lane * 7) & 63));
    put(__shfl_up(v, 3));
    put(__shfl_down(v, 5));
    put(__shfl_xor(v, 21));
    put(__shfl(v, 3, 16));
    put(__shfl_up(v, 2, 8));
    put(__shfl_down(v, 1, 4));
    put((int)(__shfl_xor((long long)v << 20, 9) >> 20));
    put((int)__shfl((double)v, lane ^ 1));
    put(__popcll(__ballot(v > 0)));
    put((__any(v == in[5]) ? 1 : 0) + (__all(v != 77777) ? 2 : 0));
    put(__builtin_amdgcn_ds_permute(4 * ((lane * 5) & 63), v));
    put(__builtin_amdgcn_ds_bpermute(4 * ((lane + 9) & 63), v));
    put(__builtin_amdgcn_ds_swizzle(v, 0x041f)); // xor 1 within 32
    put(dpp<0x1b>(v));                           // quad_perm 3 2 1 0
    put(dpp<0x101>(v));                          // row_shl:1
    put(dpp<0x113>(v));                          // row_shr:3
    put(dpp<0x124>(v));                          // row_ror:4
    put(dpp<0x140>(v));                          // row_mirror
    put(dpp<0x141>(v));                          // row_half_mirror
    put(__builtin_amdgcn_readlane(v, 33) + __builtin_amdgcn_readfirstlane(v) +
        __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)));
}

static int expected(const std::vector<int> &in, int result, int lane)
{
    const int row = lane & ~15, i = lane & 15;
    switch (result) {
    case 0:
        return in[17];
    case 1:
        return in[(lane * 7) & 63];
    case 2:
        return in[lane < 3 ? lane : lane - 3];
    case 3:
        return in[lane + 5 > 63 ? lane : lane + 5];
    case 4:
        return in[lane ^ 21];
    case 5:
        return in[row + 3];
    case 6:
        return in[(lane & 7) < 2 ? lane : lane - 2];
    case 7:
        return in[(lane & 3) == 3 ? lane : lane + 1];
    case 8:
        return in[lane ^ 9];
    case 9:
        return in[lane ^ 1];
    case 10: {
        int n = 0;
        for (int v : in)
            n += v > 0;
        return n;
    }
    case 11:
        return 3;
    case 12: // the lane that sends here: 5 * 13 = 65 = 1 modulo 64
        return in[(lane * 13) & 63];
    case 13:
        return in[(lane + 9) & 63];
    case 14:
        return in[lane ^ 1];
    case 15:
        return in[lane ^ 3];
    case 16:
        return i < 15 ? in[lane + 1] : -1;
    case 17:
        return i >= 3 ? in[lane - 3] : -1;
    case 18:
        return in[row + ((i - 4) & 15)];
    case 19:
        return in[row + 15 - i];
    case 20:
        return in[lane ^ 7];
    default:
        return in[33] + in[0] + lane;
    }
}

int main()
{
    random_source random;
    std::vector<int> in(LANES), want(RESULTS * LANES);
    for (int &v : in)
        v = (int)random.below(20000) - 10000;
    for (int r = 0; r < RESULTS; r++)
        for (int lane = 0; lane < LANES; lane++)
            want[r * LANES + lane] = expected(in, r, lane);
    gpu_array<int> from(in), to(RESULTS * LANES);
    exchange<<<1, LANES>>>(from, to);
    return report("shuffles", count_unequal(to.host(), want));
}
