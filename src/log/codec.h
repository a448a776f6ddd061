// SPDX-License-Identifier: MIT
// Payloads of the record types: structs to bytes and back.
#ifndef KR_LOG_CODEC_H
#define KR_LOG_CODEC_H

#include "log/record.h"
#include "log/wire.h"

// Writes the payload of one record; `value` is the struct that the type's kr_log_put_* takes.
void kr_log_encode(struct kr_out *out, enum kr_log_type type, const void *value);

// Room for the arrays of the record decoded last. Zero it before the first use, free(bytes) after the last.
struct kr_log_arrays {
    void *bytes;
    size_t capacity;
};

// Fills record->u; strings point into the payload, arrays into `arrays`. KREPLAY_CORRUPT when the payload
// does not hold what the type says, KREPLAY_NOT_FOUND for a type that is not known, KREPLAY_NO_MEMORY.
int kr_log_decode(const uint8_t *payload, size_t bytes, uint32_t type, kr_log_record *record,
                  struct kr_log_arrays *arrays);

#endif
