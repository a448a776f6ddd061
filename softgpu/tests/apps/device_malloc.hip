// SPDX-License-Identifier: MIT
// malloc and free in kernels: blocks of many sizes at once do not overlap, memory lives from kernel to kernel,
// freed memory comes back, and new and delete work.
#include "check.h"

#include <set>
#include <vector>

#define ITEMS 2048

__device__ unsigned size_of(unsigned i)
{
    return 1 + i * 37 % 1000;
}

__global__ void allocate(unsigned char **blocks)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char *p = (unsigned char *)malloc(size_of(i));
    for (unsigned k = 0; p && k < size_of(i); k++)
        p[k] = (unsigned char)(i + k);
    blocks[i] = p;
}

__global__ void check_and_free(unsigned char **blocks, int *bad)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char *p = blocks[i];
    for (unsigned k = 0; k < size_of(i); k++)
        if (p[k] != (unsigned char)(i + k))
            atomicAdd(bad, 1);
    free(p);
}

struct node {
    int value;
    node *next;
};

__global__ void list(int *sum)
{
    node *head = nullptr;
    for (int i = 1; i <= 100; i++)
        head = new node{i, head};
    int s = 0;
    while (head) {
        node *gone = head;
        s += head->value;
        head = head->next;
        delete gone;
    }
    atomicAdd(sum, s);
}

int main()
{
    unsigned char **blocks;
    int *words, back[2];
    HIP(hipMalloc(&blocks, ITEMS * sizeof(*blocks)));
    HIP(hipMalloc(&words, sizeof(back)));
    HIP(hipMemset(words, 0, sizeof(back)));
    std::vector<unsigned char *> host(ITEMS);
    for (int round = 0; round < 3; round++) {
        allocate<<<ITEMS / 128, 128>>>(blocks);
        HIP(hipMemcpy(host.data(), blocks, ITEMS * sizeof(*blocks), hipMemcpyDeviceToHost));
        std::set<unsigned char *> distinct(host.begin(), host.end());
        EXPECT(distinct.size() == ITEMS && !distinct.count(nullptr));
        check_and_free<<<ITEMS / 128, 128>>>(blocks, words);
        HIP(hipDeviceSynchronize());
    }
    list<<<2, 64>>>(words + 1);
    HIP(hipMemcpy(back, words, sizeof(back), hipMemcpyDeviceToHost));
    EXPECT(back[0] == 0);
    EXPECT(back[1] == 2 * 64 * 5050);
    std::puts("device_malloc: all right");
    return 0;
}
