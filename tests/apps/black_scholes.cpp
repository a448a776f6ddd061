// SPDX-License-Identifier: MIT
// Black-Scholes prices: exp, log, sqrt, erfc and division in f32 and f64. Tolerance: 2e-5 (f32) and 1e-12
// (f64) of the price of the underlying, against the host's f64.
#include "check.hpp"

constexpr int N = 1024;

template <typename T> __host__ __device__ T normal(T x)
{
    return (T)0.5 * erfc(-x * (T)0.70710678118654752);
}

template <typename T> __host__ __device__ void price(T spot, T strike, T years, T *call, T *put)
{
    const T rate = (T)0.02, volatility = (T)0.3;
    const T spread = volatility * sqrt(years);
    const T d1 = (log(spot / strike) + (rate + (T)0.5 * volatility * volatility) * years) / spread,
            d2 = d1 - spread;
    const T discounted = strike * exp(-rate * years);
    *call = spot * normal(d1) - discounted * normal(d2);
    *put = discounted * normal(-d2) - spot * normal(-d1);
}

template <typename T> __global__ void run(const float *options, T *prices)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    price<T>((T)options[3 * i], (T)options[3 * i + 1], (T)options[3 * i + 2], &prices[2 * i],
             &prices[2 * i + 1]);
}

int main()
{
    random_source random;
    std::vector<float> options(3 * N);
    std::vector<double> want(2 * N);
    for (int i = 0; i < N; i++) {
        options[3 * i] = random.between(5, 30);
        options[3 * i + 1] = random.between(1, 100);
        options[3 * i + 2] = random.between(0.25f, 10);
        price<double>(options[3 * i], options[3 * i + 1], options[3 * i + 2], &want[2 * i], &want[2 * i + 1]);
    }
    gpu_array<float> in(options), single(2 * N);
    gpu_array<double> full(2 * N);
    run<float><<<N / 256, 256>>>(in, (float *)single);
    run<double><<<N / 256, 256>>>(in, (double *)full);
    const auto f = single.host();
    return report("black_scholes",
                  count_apart(std::vector<double>(f.begin(), f.end()), want, 2e-5, 2e-5 * 30) +
                      count_apart(full.host(), want, 1e-12, 1e-12 * 30));
}
