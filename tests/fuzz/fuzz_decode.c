// SPDX-License-Identifier: MIT
// libFuzzer target: any dwords as gfx90a code. Each instruction must be refused or have a length within what was given,
// and decode in the same way when the dwords behind it change: what it does not contain must not matter.
#include "softgpu/isa/inst.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_DWORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t code[MOST_DWORDS + 8] = {0};
    size_t dwords = size / sizeof(uint32_t);
    if (dwords > MOST_DWORDS)
        dwords = MOST_DWORDS;
    memcpy(code, data, dwords * sizeof(uint32_t));

    for (size_t at = 0; at < dwords;) {
        struct sg_inst first = {0}, again = {0};
        int length = sg_decode(code + at, dwords - at, &first);
        if (length <= 0) {
            at++;
            continue;
        }
        if ((size_t)length > dwords - at)
            abort();
        uint32_t alone[MOST_DWORDS + 8];
        memset(alone, 0xff, sizeof(alone));
        memcpy(alone, code + at, (size_t)length * sizeof(uint32_t));
        if (sg_decode(alone, dwords - at, &again) != length || again.info != first.info)
            abort();
        at += (size_t)length;
    }
    return 0;
}
