// SPDX-License-Identifier: MIT
// What every HIP program pays: runtime start, one allocation, one copied word. Subtracted from the other figures.
#include <hip/hip_runtime.h>

int main()
{
    int *device = nullptr, value = 42;
    if (hipMalloc(&device, sizeof(value)) != hipSuccess)
        return 1;
    if (hipMemcpy(device, &value, sizeof(value), hipMemcpyHostToDevice) != hipSuccess)
        return 1;
    return hipFree(device) == hipSuccess ? 0 : 1;
}
