// SPDX-License-Identifier: MIT
// CRC32C (Castagnoli, reflected polynomial 0x82F63B78): the checksum of a log record.
#ifndef KR_CRC32C_H
#define KR_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t kr_crc32c(const void *bytes, size_t count);          // of "123456789": 0xE3069283
uint32_t kr_crc32c_portable(const void *bytes, size_t count); // the same without the processor's help

#endif
