// SPDX-License-Identifier: MIT
// Lloyd's k-means on integer points: nearest centre, sums by 64-bit atomics in LDS, integer division for the
// new centres; exact.
#include "check.hpp"

constexpr int N = 2000, K = 6, ROUNDS = 5;

struct point {
    int x, y;
};
struct sums {
    long long x, y;
    int n;
};

__host__ __device__ int nearest(point p, const point *centre)
{
    int best = 0;
    long long best_distance = 1ll << 62;
    for (int k = 0; k < K; k++) {
        const long long dx = p.x - centre[k].x, dy = p.y - centre[k].y, d = dx * dx + dy * dy;
        if (d < best_distance) {
            best_distance = d;
            best = k;
        }
    }
    return best;
}

__host__ __device__ point centre_of(sums s, point old)
{
    return s.n ? point{(int)(s.x / s.n), (int)(s.y / s.n)} : old;
}

__global__ void __launch_bounds__(256) assign(const point *points, point *centre, int *cluster)
{
    __shared__ unsigned long long x[K], y[K];
    __shared__ int n[K];
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x < K)
            x[threadIdx.x] = y[threadIdx.x] = n[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < N; i += 256) {
            const int k = cluster[i] = nearest(points[i], centre);
            atomicAdd(&x[k], (unsigned long long)points[i].x);
            atomicAdd(&y[k], (unsigned long long)points[i].y);
            atomicAdd(&n[k], 1);
        }
        __syncthreads();
        if (threadIdx.x < K)
            centre[threadIdx.x] = centre_of(
                {(long long)x[threadIdx.x], (long long)y[threadIdx.x], n[threadIdx.x]}, centre[threadIdx.x]);
        __syncthreads();
    }
}

int main()
{
    random_source random;
    std::vector<point> points(N), centre(K);
    std::vector<int> want(N);
    for (int i = 0; i < N; i++) {
        const int group = i % K;
        points[i] = {(group * 7919 % 1000 - 500) * 1000 + (int)random.below(200000),
                     (group * 104729 % 1000 - 500) * 1000 + (int)random.below(200000)};
    }
    for (int k = 0; k < K; k++)
        centre[k] = points[k * 100];
    gpu_array<point> dpoints(points), dcentre(centre);
    gpu_array<int> cluster(N);
    assign<<<1, 256>>>(dpoints, dcentre, cluster);
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<sums> s(K, sums{0, 0, 0});
        for (int i = 0; i < N; i++) {
            sums &t = s[want[i] = nearest(points[i], centre.data())];
            t.x += points[i].x;
            t.y += points[i].y;
            t.n++;
        }
        for (int k = 0; k < K; k++)
            centre[k] = centre_of(s[k], centre[k]);
    }
    const auto got = dcentre.host();
    return report("kmeans", count_unequal(cluster.host(), want) +
                                (std::memcmp(got.data(), centre.data(), K * sizeof(point)) != 0));
}
