// SPDX-License-Identifier: MIT
// Accelerations of 256 gravitating bodies, tiles in LDS, f32 with v_rsq and f64 with compiled square root and
// division. Tolerance: 1e-5 and 1e-14 of the largest acceleration, for the order of sums.
#include "check.hpp"

constexpr int N = 256, TILE = 64;

struct body {
    float x, y, z, mass;
};

template <typename T> __global__ void accelerate(const body *bodies, T *out)
{
    __shared__ body tile[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    const body me = bodies[i];
    T ax = 0, ay = 0, az = 0;
    for (int first = 0; first < N; first += TILE) {
        __syncthreads();
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            const T dx = (T)tile[j].x - (T)me.x, dy = (T)tile[j].y - (T)me.y, dz = (T)tile[j].z - (T)me.z;
            const T r2 = dx * dx + dy * dy + dz * dz + (T)0.01;
            const T inverse = sizeof(T) == 4 ? (T)rsqrtf((float)r2) : 1 / sqrt(r2);
            const T s = (T)tile[j].mass * inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}

int main()
{
    random_source random;
    std::vector<body> bodies(N);
    for (body &b : bodies)
        b = {random.between(-1, 1), random.between(-1, 1), random.between(-1, 1), random.unit()};
    std::vector<double> expected(3 * N);
    double largest = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double dx = (double)bodies[j].x - bodies[i].x, dy = (double)bodies[j].y - bodies[i].y,
                         dz = (double)bodies[j].z - bodies[i].z;
            const double r2 = dx * dx + dy * dy + dz * dz + 0.01, s = bodies[j].mass / (r2 * sqrt(r2));
            expected[3 * i] += dx * s;
            expected[3 * i + 1] += dy * s;
            expected[3 * i + 2] += dz * s;
        }
    for (double v : expected)
        largest = fmax(largest, fabs(v));
    gpu_array<body> in(bodies);
    gpu_array<float> f32(3 * N);
    gpu_array<double> f64(3 * N);
    accelerate<float><<<N / TILE, TILE>>>(in, f32);
    accelerate<double><<<N / TILE, TILE>>>(in, f64);
    const auto single = f32.host();
    size_t wrong =
        count_apart(std::vector<double>(single.begin(), single.end()), expected, 0, 1e-5 * largest);
    return report("nbody", wrong + count_apart(f64.host(), expected, 0, 1e-14 * largest));
}
