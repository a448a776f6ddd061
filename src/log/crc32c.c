// SPDX-License-Identifier: MIT
// CRC32C. Where the processor has an instruction for it, that is used: eight bytes at a step. Else four bits at a step:
// a 16-entry table needs no start-up and no cache to speak of, and records are short.
#include "log/crc32c.h"

#include <string.h>

static const uint32_t nibble[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t kr_crc32c_portable(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < count; i++) {
        crc ^= at[i];
        crc = (crc >> 4) ^ nibble[crc & 15];
        crc = (crc >> 4) ^ nibble[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(const void *bytes, size_t count)
{
    const uint8_t *at = bytes, *end = at + count;
    uint64_t crc = ~UINT32_C(0), eight;
    for (; end - at >= 8; at += 8) {
        memcpy(&eight, at, 8);
        crc = __builtin_ia32_crc32di(crc, eight);
    }
    for (; at < end; at++)
        crc = __builtin_ia32_crc32qi((uint32_t)crc, *at);
    return ~(uint32_t)crc;
}

uint32_t kr_crc32c(const void *bytes, size_t count)
{
    return __builtin_cpu_supports("sse4.2") ? by_instruction(bytes, count) : kr_crc32c_portable(bytes, count);
}
#else
uint32_t kr_crc32c(const void *bytes, size_t count)
{
    return kr_crc32c_portable(bytes, count);
}
#endif
