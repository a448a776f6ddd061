// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a record log. Reading must end in one of the documented states; every string
// and array of every record is touched, so that a pointer beyond the file is found. The checksums of records
// that look whole are put right first, else no mutation would ever get behind them.
#include "log/crc32c.h"
#include "log/format.h"
#include "log/record.h"
#include "log/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++)
        sink += at[i];
}

static void touch_text(const char *text)
{
    touch(text, strlen(text));
}

static void touch_dispatch(const kreplay_dispatch_record *record)
{
    touch_text(record->dispatch->kernel_name);
    touch(record->outcome, sizeof(*record->outcome));
    for (size_t i = 0; i < record->pass_count; i++)
        touch(record->passes[i].values, record->passes[i].value_count * sizeof(kreplay_value));
}

static void touch_record(const kr_log_record *record)
{
    switch (record->type) {
    case KR_LOG_PROCESS:
        touch_text(record->u.process.hostname);
        touch_text(record->u.process.command);
        touch_text(record->u.process.backend);
        touch_text(record->u.process.version);
        break;
    case KR_LOG_AGENT:
        touch_text(record->u.agent.name);
        touch_text(record->u.agent.product);
        touch_text(record->u.agent.vendor);
        break;
    case KR_LOG_CODE_OBJECT:
        touch_text(record->u.code_object.uri);
        break;
    case KR_LOG_KERNEL:
        touch_text(record->u.kernel.name);
        break;
    case KR_LOG_COUNTER:
        touch_text(record->u.counter.name);
        touch_text(record->u.counter.block);
        touch_text(record->u.counter.description);
        touch_text(record->u.counter.expression);
        break;
    case KR_LOG_GROUP:
        touch(record->u.group.counter_ids, record->u.group.counter_count * sizeof(uint64_t));
        break;
    case KR_LOG_DISPATCH:
        touch_dispatch(&record->u.dispatch.record);
        break;
    case KR_LOG_MESSAGE:
        touch_text(record->u.message);
        break;
    case KR_LOG_END:
    case KR_LOG_ROLE:
        break;
    }
}

static void repair(uint8_t *log, size_t size)
{
    size_t at = KR_LOG_HEADER_BYTES;
    while (at < size && size - at >= KR_LOG_RECORD_HEADER) {
        struct kr_in in = {.bytes = log + at, .left = 4};
        size_t bytes = kr_in_u32(&in);
        if (bytes < KR_LOG_RECORD_HEADER || bytes > size - at)
            return;
        uint8_t *record = log + at;
        struct kr_out crc = {.bytes = record + 4, .capacity = 4};
        kr_out_u32(&crc, kr_crc32c(record + KR_LOG_COMMIT_BYTES, bytes - KR_LOG_COMMIT_BYTES));
        at += kr_log_align(bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // The last byte decides whether checksums are repaired.
    if (size == 0)
        return 0;
    int fd = memfd_create("log", 0);
    if (fd < 0)
        abort();
    uint8_t *copy = malloc(size);
    memcpy(copy, data, size);
    if (data[size - 1] & 1)
        repair(copy, size);
    if (write(fd, copy, size) != (ssize_t)size)
        abort();
    free(copy);

    char path[64];
    struct kr_log_reader *reader;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int rc = kr_log_open(path, &reader);
    kr_log_record record;
    while (rc == KREPLAY_OK) {
        rc = kr_log_next(reader, &record);
        if (rc == KREPLAY_OK)
            touch_record(&record);
    }
    if (rc != KREPLAY_END && rc != KREPLAY_CORRUPT && rc != KREPLAY_UNSUPPORTED)
        abort();
    kr_log_reader_close(reader);
    close(fd);
    return 0;
}
