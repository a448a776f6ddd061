// SPDX-License-Identifier: MIT
// CRC-32 (polynomial 0xedb88320) of a buffer in pieces: a table in LDS, pieces joined by multiplication
// modulo the polynomial. The known checksum of "123456789" is the first check.
#include "check.hpp"

constexpr int PIECES = 128, PIECE = 96;
constexpr unsigned POLYNOMIAL = 0xedb88320;

// a * b modulo the polynomial, bit-reflected.
__host__ __device__ unsigned multiply(unsigned a, unsigned b)
{
    unsigned product = 0;
    for (int i = 31; i >= 0; i--) {
        product ^= a >> i & 1 ? b : 0;
        b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
    }
    return product;
}

__global__ void checksum(const unsigned char *data, unsigned *out)
{
    __shared__ unsigned table[256], piece[PIECES];
    for (int i = threadIdx.x; i < 256; i += PIECES) {
        unsigned c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    unsigned c = threadIdx.x ? 0 : ~0u;
    for (int i = 0; i < PIECE; i++)
        c = c >> 8 ^ table[(c ^ data[threadIdx.x * PIECE + i]) & 0xff];
    piece[threadIdx.x] = c;
    // Appending n bytes multiplies by x^(8n); the exponent doubles at each level of the tree.
    unsigned shift = 0x80000000; // 1
    for (int i = 0; i < 8 * PIECE; i++)
        shift = shift & 1 ? shift >> 1 ^ POLYNOMIAL : shift >> 1;
    for (int span = 1; span < PIECES; span *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * span) == 0)
            piece[threadIdx.x] = multiply(shift, piece[threadIdx.x]) ^ piece[threadIdx.x + span];
        shift = multiply(shift, shift);
    }
    if (threadIdx.x == 0)
        *out = ~piece[0];
}

static unsigned on_host(const unsigned char *data, size_t n)
{
    unsigned c = ~0u;
    for (size_t i = 0; i < n; i++) {
        c ^= data[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
    }
    return ~c;
}

int main()
{
    random_source random;
    std::vector<unsigned char> data(PIECES * PIECE);
    for (auto &c : data)
        c = (unsigned char)random.bits();
    gpu_array<unsigned char> in(data);
    gpu_array<unsigned> out(1);
    checksum<<<1, PIECES>>>(in, out);
    size_t wrong = on_host((const unsigned char *)"123456789", 9) != 0xcbf43926;
    return report("crc32", wrong + (out.host()[0] != on_host(data.data(), data.size())));
}
