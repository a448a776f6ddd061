// SPDX-License-Identifier: MIT
// SHA-256 of messages of many lengths, a message for each work-item, against the same code on the host and
// the known digest of "abc". Source: FIPS 180-4.
#include "check.hpp"

#define HD __host__ __device__
constexpr int N = 192;

struct digest {
    unsigned h[8];
};

HD static unsigned rotate(unsigned v, int n)
{
    return v >> n | v << (32 - n);
}

// The constants are the fractions of cube roots of primes; a table in constant memory.
static unsigned host_k[64];
__constant__ unsigned device_k[64];

HD static void block(unsigned *h, const unsigned char *bytes, const unsigned *k)
{
    unsigned w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] =
            (unsigned)bytes[4 * i] << 24 | bytes[4 * i + 1] << 16 | bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const unsigned a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 8; i++)
        s[i] = h[i];
    for (int i = 0; i < 64; i++) {
        const unsigned t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                            ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        const unsigned t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                            ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

HD static digest sha256(const unsigned char *message, int n, const unsigned *k)
{
    digest d = {
        {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    const int blocks = (n + 9 + 63) / 64;
    for (int b = 0; b < blocks; b++) {
        unsigned char chunk[64];
        for (int i = 0; i < 64; i++) {
            const int at = 64 * b + i, tail = 64 * blocks - 1 - at;
            chunk[i] = at < n     ? message[at]
                       : at == n  ? 0x80
                       : tail < 8 ? (unsigned char)((8ull * n) >> (8 * tail))
                                  : 0;
        }
        block(d.h, chunk, k);
    }
    return d;
}

__global__ void run(const unsigned char *messages, digest *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sha256(messages + i, i, device_k);
}

int main()
{
    for (int n = 2, i = 0; i < 64; n++) {
        bool prime = true;
        for (int d = 2; d * d <= n; d++)
            prime &= n % d != 0;
        if (prime)
            host_k[i++] = (unsigned)(unsigned long long)ldexpl(cbrtl(n) - floorl(cbrtl(n)), 32);
    }
    random_source random;
    std::vector<unsigned char> messages(2 * N);
    for (auto &c : messages)
        c = (unsigned char)random.bits();
    std::memcpy(&messages[3], "abc", 3);
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(device_k), host_k, sizeof(host_k)));
    gpu_array<unsigned char> in(messages);
    gpu_array<digest> out(N);
    run<<<N / 64, 64>>>(in, out);
    const auto got = out.host();
    size_t wrong = got[3].h[0] != 0xba7816bf || got[3].h[7] != 0xf20015ad;
    for (int i = 0; i < N; i++) {
        const digest want = sha256(&messages[i], i, host_k);
        wrong += std::memcmp(&got[i], &want, sizeof(want)) != 0;
    }
    return report("sha256", wrong);
}
