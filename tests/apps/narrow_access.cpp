// SPDX-License-Identifier: MIT
// Loads and stores of 1 to 16 bytes, signed and unsigned, in global memory, LDS and scratch, also through
// generic pointers and at odd addresses.
#include "check.hpp"

constexpr int N = 512;

struct __attribute__((packed)) odd {
    signed char a;
    unsigned short b;
    int c;
    unsigned long long d;
    short e;
};

struct triple {
    unsigned x, y, z;
};

__device__ __attribute__((noinline)) int through_generic(const signed char *bytes, short *shorts, int i)
{
    shorts[i] = (short)(shorts[i] + bytes[i]);
    return shorts[i];
}

__device__ __attribute__((noinline)) void put_wide(unsigned long long *p, unsigned long long v)
{
    *p = v;
}

__global__ void run(const odd *in, odd *out, const triple *triples, uint4 *quads, int *sums)
{
    __shared__ signed char bytes[N];
    __shared__ short shorts[N];
    __shared__ triple kept[N];
    __shared__ uint4 wide[N];
    signed char own_bytes[64];
    short own_shorts[64];
    const int i = threadIdx.x;
    odd v = in[i];
    bytes[i] = v.a;
    shorts[i] = v.e;
    kept[i] = triples[i];
    __syncthreads();
    const int j = (i * 5 + 1) % N;
    v.a = (signed char)(v.a - 3);
    v.b = (unsigned short)(v.b + 1);
    v.c = bytes[j] - v.c;
    v.d += (unsigned long long)(long long)shorts[j];
    v.e = (short)-v.e;
    out[i] = v;
    wide[i] = {kept[j].z, kept[j].y, kept[j].x, (unsigned char)bytes[j]};
    for (int k = 0; k < 64; k++) {
        own_bytes[k] = (signed char)(i + k);
        own_shorts[k] = (short)(i * k);
    }
    __syncthreads();
    quads[i] = wide[(i + 9) % N];
    int sum = through_generic(bytes, shorts, i);
    sum += through_generic(own_bytes, own_shorts, i % 64);
    __shared__ unsigned long long shared_wide[N];
    unsigned long long own_wide;
    put_wide(&shared_wide[i], v.d);
    put_wide(&own_wide, v.d >> 32);
    sums[i] = sum + (int)((unsigned)shared_wide[i] - (unsigned)own_wide);
}

int main()
{
    random_source random;
    std::vector<odd> in(N), want(N);
    std::vector<triple> triples(N);
    std::vector<uint4> want_quads(N);
    std::vector<int> want_sums(N);
    for (int i = 0; i < N; i++) {
        in[i] = {(signed char)random.bits(), (unsigned short)random.bits(), (int)random.bits(),
                 random.bits64(), (short)random.bits()};
        triples[i] = {random.bits(), random.bits(), random.bits()};
    }
    for (int i = 0; i < N; i++) {
        const int j = (i * 5 + 1) % N, k = ((i + 9) % N * 5 + 1) % N;
        odd v = in[i];
        v.a = (signed char)(v.a - 3);
        v.b = (unsigned short)(v.b + 1);
        v.c = (int)((unsigned)in[j].a - (unsigned)v.c);
        v.d += (unsigned long long)(long long)in[j].e;
        v.e = (short)-v.e;
        want[i] = v;
        want_quads[i] = {triples[k].z, triples[k].y, triples[k].x, (unsigned char)in[k].a};
        want_sums[i] = (int)((unsigned)v.d - (unsigned)(v.d >> 32)) + (short)(in[i].e + in[i].a) +
                       (short)((short)(i * (i % 64)) + (signed char)(i + i % 64));
    }
    gpu_array<odd> din(in), dout(N);
    gpu_array<triple> dtriples(triples);
    gpu_array<uint4> quads(N);
    gpu_array<int> sums(N);
    run<<<1, N>>>(din, dout, dtriples, quads, sums);
    const auto got = dout.host();
    const auto got_quads = quads.host();
    size_t wrong = count_unequal(sums.host(), want_sums);
    for (int i = 0; i < N; i++) {
        wrong += std::memcmp(&got[i], &want[i], sizeof(odd)) != 0;
        wrong += std::memcmp(&got_quads[i], &want_quads[i], sizeof(uint4)) != 0;
    }
    return report("narrow_access", wrong);
}
