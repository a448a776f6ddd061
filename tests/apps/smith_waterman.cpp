// SPDX-License-Identifier: MIT
// Local alignment scores of a query with 128 sequences: one work-item a sequence with its row in private
// memory, and one group a sequence along anti-diagonals with 16-bit cells in LDS.
#include "check.hpp"

constexpr int QUERY = 24, LENGTH = 40, N = 64;

__host__ __device__ int best_of(int a, int b, int c)
{
    const int m = a > b ? a : b;
    return m > c ? (m > 0 ? m : 0) : (c > 0 ? c : 0);
}

__host__ __device__ int align(const char *query, const char *text)
{
    short row[QUERY + 1] = {0};
    int best = 0;
    for (int j = 0; j < LENGTH; j++) {
        short diagonal = 0;
        for (int i = 1; i <= QUERY; i++) {
            const int score =
                best_of(row[i] - 2, row[i - 1] - 2, diagonal + (query[i - 1] == text[j] ? 3 : -1));
            diagonal = row[i];
            row[i] = (short)score;
            best = score > best ? score : best;
        }
    }
    return best;
}

__global__ void by_item(const char *query, const char *texts, int *best)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    best[i] = align(query, texts + i * LENGTH);
}

__global__ void by_group(const char *query, const char *texts, int *best)
{
    __shared__ short line[3][QUERY + 1];
    __shared__ int result;
    const int i = threadIdx.x + 1; // row of the query
    for (int k = threadIdx.x; k < 3 * (QUERY + 1); k += QUERY)
        (&line[0][0])[k] = 0;
    if (threadIdx.x == 0)
        result = 0;
    for (int d = 0; d < LENGTH + QUERY - 1; d++) {
        __syncthreads();
        const int j = d - threadIdx.x;
        int score = 0;
        if (j >= 0 && j < LENGTH) {
            const short *before = line[(d + 2) % 3], *two_before = line[(d + 1) % 3];
            const bool same = query[i - 1] == texts[blockIdx.x * LENGTH + j];
            score = best_of(before[i] - 2, before[i - 1] - 2, two_before[i - 1] + (same ? 3 : -1));
            atomicMax(&result, score);
        }
        line[d % 3][i] = (short)score;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        best[blockIdx.x] = result;
}

int main()
{
    random_source random;
    std::vector<char> query(QUERY), texts(N * LENGTH);
    for (char &c : query)
        c = "ACGT"[random.below(4)];
    for (int i = 0; i < N * LENGTH; i++)
        texts[i] = random.below(3) ? query[i % QUERY] : "ACGT"[random.below(4)];
    std::vector<int> want(N);
    for (int i = 0; i < N; i++)
        want[i] = align(query.data(), &texts[i * LENGTH]);
    gpu_array<char> dquery(query), dtexts(texts);
    gpu_array<int> a(N), b(N);
    by_item<<<1, N>>>(dquery, dtexts, a);
    by_group<<<N, QUERY>>>(dquery, dtexts, b);
    return report("smith_waterman", count_unequal(a.host(), want) + count_unequal(b.host(), want));
}
