// SPDX-License-Identifier: MIT
// Kernels that write host memory whose address is no argument of theirs: it lies in a structure in device memory, in
// a table of pointers, or in a module variable. Each write must happen once a launch. Usage: host_pointers
#include "check.hpp"

#include <cstring>

struct node {
    node *next;
    int value;
};

__global__ void walk(node *list)
{
    for (; list; list = list->next)
        list->value++;
}

__global__ void through_table(int **table, int n)
{
    const int i = threadIdx.x;
    if (i < n)
        table[0][i] += 1;
}

__device__ int *target;

__global__ void through_variable(int n)
{
    const int i = threadIdx.x;
    if (i < n)
        target[i] += 1;
}

int main(int, char **)
{
    const int n = 100;
    bool ok = true;

    node *host_nodes, *device_node;
    CHECK(hipHostMalloc(reinterpret_cast<void **>(&host_nodes), 2 * sizeof(node)));
    CHECK(hipMalloc(reinterpret_cast<void **>(&device_node), sizeof(node)));
    host_nodes[0] = {&host_nodes[1], 1};
    host_nodes[1] = {nullptr, 2};
    node first = {host_nodes, 0};
    CHECK(hipMemcpy(device_node, &first, sizeof(first), hipMemcpyHostToDevice));
    for (int launch = 0; launch < 3; launch++)
        walk<<<1, 1>>>(device_node);
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(&first, device_node, sizeof(first), hipMemcpyDeviceToHost));
    std::printf("list: %d %d %d (expected 3 4 5)\n", first.value, host_nodes[0].value, host_nodes[1].value);
    ok = ok && first.value == 3 && host_nodes[0].value == 4 && host_nodes[1].value == 5;
    CHECK(hipFree(device_node)); // its address of host memory would stand in the way of what follows

    int *host, **table;
    CHECK(hipHostMalloc(reinterpret_cast<void **>(&host), n * sizeof(int)));
    std::memset(host, 0, n * sizeof(int));
    CHECK(hipMalloc(reinterpret_cast<void **>(&table), sizeof(int *)));
    CHECK(hipMemcpy(table, &host, sizeof(host), hipMemcpyHostToDevice));
    for (int launch = 0; launch < 2; launch++)
        through_table<<<1, 128>>>(table, n);
    CHECK(hipDeviceSynchronize());
    std::printf("table: %d (expected 2)\n", host[n / 2]);
    ok = ok && host[n / 2] == 2;
    CHECK(hipFree(table));

    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(target), &host, sizeof(host)));
    for (int launch = 0; launch < 2; launch++)
        through_variable<<<1, 128>>>(n);
    CHECK(hipDeviceSynchronize());
    std::printf("variable: %d (expected 4)\n", host[n / 2]);
    ok = ok && host[n / 2] == 4;

    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
