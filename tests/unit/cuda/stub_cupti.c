// SPDX-License-Identifier: MIT
// A CUPTI that is of no use: of STUB_VERSION, and without any function but the one that says so.
#include <cupti_result.h>
#include <stdint.h>

CUptiResult cuptiGetVersion(uint32_t *version);

__attribute__((visibility("default"))) CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = STUB_VERSION;
    return CUPTI_SUCCESS;
}
