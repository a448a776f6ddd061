// SPDX-License-Identifier: MIT
// The reader of the record log. Trusts nothing in the file: every length is checked against what is there
// before it is used, and reads go through a buffer, so that a file that shrinks meanwhile is an error and not
// SIGBUS.
#include "log/codec.h"
#include "log/crc32c.h"
#include "log/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 << 10)

struct kr_log_reader {
    int fd;
    uint64_t offset; // of the next record
    uint64_t file_bytes;
    uint8_t *buffer; // holds [buffer_offset, buffer_offset + buffer_used) of the file
    size_t buffer_capacity;
    uint64_t buffer_offset;
    size_t buffer_used;
    struct kr_log_arrays arrays;
};

// *out points at `bytes` bytes of the file from `offset` on, until the next call. KREPLAY_CORRUPT when the
// file is shorter, KREPLAY_IO, KREPLAY_NO_MEMORY.
static int view(struct kr_log_reader *reader, uint64_t offset, size_t bytes, const uint8_t **out)
{
    if (offset > reader->file_bytes || bytes > reader->file_bytes - offset)
        return KREPLAY_CORRUPT;
    if (offset < reader->buffer_offset || offset + bytes > reader->buffer_offset + reader->buffer_used) {
        if (bytes > reader->buffer_capacity) {
            size_t capacity = bytes < BUFFER_BYTES ? BUFFER_BYTES : bytes;
            uint8_t *grown = realloc(reader->buffer, capacity);
            if (grown == NULL)
                return KREPLAY_NO_MEMORY;
            reader->buffer = grown;
            reader->buffer_capacity = capacity;
        }
        reader->buffer_offset = offset;
        reader->buffer_used = 0;
        while (reader->buffer_used < bytes) {
            ssize_t got =
                pread(reader->fd, reader->buffer + reader->buffer_used,
                      reader->buffer_capacity - reader->buffer_used, (off_t)(offset + reader->buffer_used));
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return KREPLAY_IO;
            if (got == 0)
                return KREPLAY_CORRUPT; // became shorter
            reader->buffer_used += (size_t)got;
        }
    }
    *out = reader->buffer + (offset - reader->buffer_offset);
    return KREPLAY_OK;
}

static int look_at_size(struct kr_log_reader *reader)
{
    struct stat status;
    if (fstat(reader->fd, &status) != 0)
        return KREPLAY_IO;
    if (!S_ISREG(status.st_mode))
        return KREPLAY_CORRUPT;
    reader->file_bytes = (uint64_t)status.st_size;
    return KREPLAY_OK;
}

// What is left of a header when the process ended while it was written: its beginning, then zeros or nothing.
static bool is_begun_header(const uint8_t *bytes, size_t count)
{
    uint8_t header[KR_LOG_HEADER_BYTES] = {0};
    struct kr_out out = {.bytes = header, .capacity = sizeof(header)};
    kr_out_bytes(&out, KR_LOG_MAGIC, KR_LOG_MAGIC_BYTES);
    kr_out_u32(&out, KR_LOG_VERSION);
    kr_out_u32(&out, KR_LOG_HEADER_BYTES);
    size_t same = 0;
    while (same < count && bytes[same] == header[same])
        same++;
    for (size_t i = same; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static int read_header(struct kr_log_reader *reader)
{
    const uint8_t *bytes;
    if (reader->file_bytes <= KR_LOG_HEADER_BYTES) {
        size_t count = (size_t)reader->file_bytes;
        int rc = count == 0 ? KREPLAY_OK : view(reader, 0, count, &bytes);
        if (rc != KREPLAY_OK)
            return rc;
        if (count == 0 || is_begun_header(bytes, count)) {
            reader->offset = count; // a log without records
            return KREPLAY_OK;
        }
    }
    int rc = view(reader, 0, KR_LOG_HEADER_BYTES, &bytes);
    if (rc != KREPLAY_OK)
        return rc;
    if (memcmp(bytes, KR_LOG_MAGIC, KR_LOG_MAGIC_BYTES) != 0)
        return KREPLAY_CORRUPT;
    struct kr_in in = {.bytes = bytes + KR_LOG_MAGIC_BYTES, .left = KR_LOG_HEADER_BYTES - KR_LOG_MAGIC_BYTES};
    if (kr_in_u32(&in) != KR_LOG_VERSION)
        return KREPLAY_UNSUPPORTED;
    if (kr_in_u32(&in) != KR_LOG_HEADER_BYTES)
        return KREPLAY_CORRUPT;
    reader->offset = KR_LOG_HEADER_BYTES;
    return KREPLAY_OK;
}

int kr_log_open(const char *path, struct kr_log_reader **out)
{
    *out = NULL;
    struct kr_log_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL)
        return KREPLAY_NO_MEMORY;
    reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not hang the command
    int rc = reader->fd < 0 ? KREPLAY_IO : look_at_size(reader);
    if (rc == KREPLAY_OK)
        rc = read_header(reader);
    if (rc != KREPLAY_OK) {
        int err = errno;
        kr_log_reader_close(reader);
        errno = err;
        return rc;
    }
    *out = reader;
    return KREPLAY_OK;
}

struct frame {
    uint64_t offset;
    uint32_t bytes; // with the header
    uint32_t crc;
    uint32_t type;
};

// Reads the header at `offset`. KREPLAY_OK with a frame that lies inside the file, KREPLAY_END where nothing
// was committed, KREPLAY_CORRUPT where no record can be.
static int read_frame(struct kr_log_reader *reader, uint64_t offset, struct frame *frame)
{
    const uint8_t *bytes;
    int rc = view(reader, offset, KR_LOG_RECORD_HEADER, &bytes);
    if (rc != KREPLAY_OK)
        return rc;
    struct kr_in in = {.bytes = bytes, .left = KR_LOG_RECORD_HEADER};
    uint64_t commit = kr_in_u64(&in);
    if (commit == 0)
        return KREPLAY_END;
    frame->offset = offset;
    frame->bytes = (uint32_t)commit;
    frame->crc = (uint32_t)(commit >> 32);
    frame->type = kr_in_u32(&in);
    if (kr_in_u32(&in) != KR_LOG_MARKER || frame->bytes < KR_LOG_RECORD_HEADER ||
        frame->bytes > KR_LOG_MAX_RECORD || frame->bytes > reader->file_bytes - offset)
        return KREPLAY_CORRUPT;
    return KREPLAY_OK;
}

// *payload is valid until the next view.
static int check_frame(struct kr_log_reader *reader, const struct frame *frame, const uint8_t **payload)
{
    const uint8_t *bytes;
    int rc = view(reader, frame->offset, frame->bytes, &bytes);
    if (rc != KREPLAY_OK)
        return rc;
    if (kr_crc32c(bytes + KR_LOG_COMMIT_BYTES, frame->bytes - KR_LOG_COMMIT_BYTES) != frame->crc)
        return KREPLAY_CORRUPT;
    *payload = bytes + KR_LOG_RECORD_HEADER;
    return KREPLAY_OK;
}

// The word at reader->offset was never committed. Behind it lie zeros, or a record that the process had no
// time to finish: both are an orderly end. A whole record behind it means that something was overwritten with
// zeros.
static int end_of_log(struct kr_log_reader *reader)
{
    uint64_t budget =
        4 * (reader->file_bytes - reader->offset); // bytes to checksum: made-up files must not take forever
    for (uint64_t at = reader->offset; reader->file_bytes - at >= KR_LOG_RECORD_HEADER; at += KR_LOG_ALIGN) {
        struct frame frame;
        int rc = read_frame(reader, at, &frame);
        if (rc == KREPLAY_IO || rc == KREPLAY_NO_MEMORY)
            return rc;
        if (rc != KREPLAY_OK)
            continue;
        const uint8_t *payload;
        if (frame.bytes > budget || check_frame(reader, &frame, &payload) == KREPLAY_OK)
            return KREPLAY_CORRUPT;
        budget -= frame.bytes;
    }
    return KREPLAY_END;
}

// Fewer bytes than a record header are left: zeros are an end, anything else is a cut record.
static int end_of_file(struct kr_log_reader *reader)
{
    const uint8_t *bytes;
    size_t left = reader->offset < reader->file_bytes ? (size_t)(reader->file_bytes - reader->offset) : 0;
    int rc = left == 0 ? KREPLAY_OK : view(reader, reader->offset, left, &bytes);
    if (rc != KREPLAY_OK)
        return rc;
    for (size_t i = 0; i < left; i++)
        if (bytes[i] != 0)
            return KREPLAY_CORRUPT;
    return KREPLAY_END;
}

static int next_frame(struct kr_log_reader *reader, struct frame *frame)
{
    if (reader->offset + KR_LOG_RECORD_HEADER > reader->file_bytes)
        return end_of_file(reader);
    int rc = read_frame(reader, reader->offset, frame);
    return rc == KREPLAY_END ? end_of_log(reader) : rc;
}

int kr_log_next(struct kr_log_reader *reader, kr_log_record *record)
{
    for (;;) {
        struct frame frame;
        const uint8_t *payload;
        int rc = next_frame(reader, &frame);
        if (rc == KREPLAY_OK)
            rc = check_frame(reader, &frame, &payload);
        if (rc != KREPLAY_OK)
            return rc;
        rc = kr_log_decode(payload, frame.bytes - KR_LOG_RECORD_HEADER, frame.type, record, &reader->arrays);
        if (rc != KREPLAY_OK && rc != KREPLAY_NOT_FOUND)
            return rc;
        reader->offset = frame.offset + kr_log_align(frame.bytes);
        if (rc == KREPLAY_NOT_FOUND)
            continue; // a newer writer's
        record->offset = frame.offset;
        return KREPLAY_OK;
    }
}

void kr_log_reader_close(struct kr_log_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->buffer);
    free(reader->arrays.bytes);
    free(reader);
}
