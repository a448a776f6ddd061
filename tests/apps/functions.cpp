// SPDX-License-Identifier: MIT
// Calls that cannot be inlined: recursion with a frame in scratch memory, function pointers that differ from
// lane to lane, virtual functions, and private arrays with an index known only at run time.
#include "check.hpp"

constexpr int N = 256;

__host__ __device__ __attribute__((noinline)) int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ __attribute__((noinline)) unsigned twist(unsigned v)
{
    return v * 3 + 1;
}
__host__ __device__ __attribute__((noinline)) unsigned halve(unsigned v)
{
    return v / 2;
}
__host__ __device__ __attribute__((noinline)) unsigned flip(unsigned v)
{
    return ~v;
}

struct shape {
    __host__ __device__ virtual int area(int x) const = 0;
};
struct square : shape {
    __host__ __device__ int area(int x) const override { return x * x; }
};
struct triangle : shape {
    __host__ __device__ int area(int x) const override { return x * (x + 1) / 2; }
};

__host__ __device__ unsigned through_array(unsigned seed)
{
    unsigned values[32];
    for (unsigned i = 0; i < 32; i++)
        values[i] = seed = seed * 1664525 + 1013904223;
    unsigned at = seed >> 27, sum = 0;
    for (int i = 0; i < 50; i++) {
        sum += values[at];
        values[at] ^= sum;
        at = sum >> 27;
    }
    return sum;
}

__global__ void call(unsigned *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned (*const step[3])(unsigned) = {twist, halve, flip};
    unsigned v = i * 77777;
    for (unsigned k = 0; k < 9; k++)
        v = step[(i + k * k) % 3](v);
    const square s;
    const triangle t;
    const shape *which = i & 1 ? (const shape *)&s : &t;
    out[4 * i] = v;
    out[4 * i + 1] = ackermann(2, i % 5);
    out[4 * i + 2] = which->area(i);
    out[4 * i + 3] = through_array(i);
}

int main()
{
    std::vector<unsigned> want(4 * N);
    for (unsigned i = 0; i < N; i++) {
        unsigned (*const step[3])(unsigned) = {twist, halve, flip};
        unsigned v = i * 77777;
        for (unsigned k = 0; k < 9; k++)
            v = step[(i + k * k) % 3](v);
        want[4 * i] = v;
        want[4 * i + 1] = ackermann(2, i % 5);
        want[4 * i + 2] = i & 1 ? i * i : i * (i + 1) / 2;
        want[4 * i + 3] = through_array(i);
    }
    gpu_array<unsigned> out(4 * N);
    call<<<N / 64, 64>>>(out);
    return report("functions", count_unequal(out.host(), want));
}
