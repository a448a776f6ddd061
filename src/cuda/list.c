// SPDX-License-Identifier: MIT
// Lists the metrics of all GPUs without a program.
#include "cuda/list.h"

#include "cuda/state.h"

#include <stdio.h>

static int list_device(const struct kr_driver *driver, const struct kr_cupti *cupti, uint32_t index,
                       const struct kr_cuda_list *list, char *error, size_t error_bytes)
{
    char product[256] = "", chip[64];
    struct kr_metrics metrics;
    CUdevice device;

    CUptiResult result = kr_metrics_chip(cupti, index, chip, sizeof chip);
    if (result != CUPTI_SUCCESS) {
        snprintf(error, error_bytes, "CUPTI: %s", kr_cupti_text(cupti, result));
        return KREPLAY_UNAVAILABLE;
    }
    if (driver->device_get(&device, (int)index) == CUDA_SUCCESS)
        driver->device_get_name(product, sizeof product, device);
    int status = list->gpu(list->arg, index, product, chip);
    if (status != 0)
        return status;
    kr_metrics_init(&metrics, chip);
    status = kr_metrics_visit(cupti, &metrics, index, list->metric, list->arg);
    if (status == KREPLAY_UNAVAILABLE)
        snprintf(error, error_bytes, "CUPTI does not know the chip \"%s\"", chip);
    kr_metrics_fini(cupti, &metrics);
    return status;
}

int kreplay_cuda_list(const struct kr_cuda_list *list, char *error, size_t error_bytes)
{
    struct kr_driver driver;
    struct kr_cupti cupti;
    int count = 0, status = 0;

    if (kr_driver_open(&driver, error, error_bytes) != 0 || kr_cupti_open(&cupti, error, error_bytes) != 0)
        return KREPLAY_UNAVAILABLE;
    if (driver.init(0) != CUDA_SUCCESS || driver.device_get_count(&count) != CUDA_SUCCESS || count == 0) {
        snprintf(error, error_bytes, "CUDA finds no GPU");
        return KREPLAY_UNAVAILABLE;
    }
    for (uint32_t i = 0; i < (uint32_t)count && status == 0; i++)
        status = list_device(&driver, &cupti, i, list, error, error_bytes);
    return status;
}
