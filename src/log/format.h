// SPDX-License-Identifier: MIT
// The bytes of a log file around the records' payloads; docs/log-format.md tells them in words. Shared by
// writer and reader only.
//
//   file   = header, record...            each record starts at a multiple of 8; the tail may be zeros
//   header = magic[8] u32 version u32 header_bytes zeros[48]
//   record = u64 commit, u32 type, u32 marker, payload
//   commit = bytes of the record (16 + payload) | CRC32C of everything after the commit word << 32
//
// The commit word is zero until everything behind it is in place; storing it is what makes the record exist.
#ifndef KR_LOG_FORMAT_H
#define KR_LOG_FORMAT_H

#include <stdint.h>

#define KR_LOG_MAGIC         "KRLOG\r\n\x1a" // 8 bytes without the NUL; text conversion breaks it
#define KR_LOG_MAGIC_BYTES   8u
#define KR_LOG_VERSION       1u
#define KR_LOG_HEADER_BYTES  64u
#define KR_LOG_COMMIT_BYTES  8u
#define KR_LOG_RECORD_HEADER 16u
#define KR_LOG_MARKER        0x6365526bu // "kRec": lets a reader find records behind damage
#define KR_LOG_ALIGN         8u
#define KR_LOG_MAX_RECORD    (UINT32_C(1) << 30)

static inline uint64_t kr_log_align(uint64_t offset)
{
    return (offset + KR_LOG_ALIGN - 1) & ~(uint64_t)(KR_LOG_ALIGN - 1);
}

#endif
