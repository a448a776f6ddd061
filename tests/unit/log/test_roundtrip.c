// SPDX-License-Identifier: MIT
// Whatever is put into a log is read back the same, of every type, with any content and across the writer's
// chunks.
#include "files.h"
#include "log/codec.h"
#include "log/crc32c.h"
#include "sample.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SEED 20240229u

static void test_crc32c(void **state)
{
    (void)state;
    // RFC 3720, appendix B.4, and the usual check value
    uint8_t bytes[32] = {0};
    assert_int_equal(kr_crc32c("123456789", 9), 0xE3069283);
    assert_int_equal(kr_crc32c_portable("123456789", 9), 0xE3069283);
    assert_int_equal(kr_crc32c(bytes, sizeof(bytes)), 0x8A9136AA);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(kr_crc32c(bytes, sizeof(bytes)), 0x62A8AB43);

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t from = 0; from < 9; from++)
        for (size_t count = 0; from + count <= sizeof(bytes); count++)
            assert_int_equal(kr_crc32c(bytes + from, count), kr_crc32c_portable(bytes + from, count));
}

static void test_random_records(void **state)
{
    (void)state;
    enum { COUNT = 12000 }; // some 2 MB: several chunks
    char path[PATH_BYTES];
    path_make(path);
    struct kr_log *log;
    assert_int_equal(kr_log_create(path, &log), KREPLAY_OK);
    struct sample *sample = malloc(sizeof(*sample));
    uint64_t seed = SEED;
    for (unsigned i = 0; i < COUNT; i++) {
        sample_make(sample, (enum kr_log_type)(KR_LOG_PROCESS + sample_random(&seed) % KR_LOG_ROLE), &seed);
        assert_int_equal(sample_put(log, sample), KREPLAY_OK);
    }
    kr_log_close(log);

    struct kr_log_reader *reader;
    kr_log_record record;
    uint64_t last_offset = 0;
    assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
    seed = SEED;
    for (unsigned i = 0; i < COUNT; i++) {
        sample_make(sample, (enum kr_log_type)(KR_LOG_PROCESS + sample_random(&seed) % KR_LOG_ROLE), &seed);
        assert_int_equal(kr_log_next(reader, &record), KREPLAY_OK);
        sample_check(sample, &record);
        assert_true(record.offset > last_offset);
        last_offset = record.offset;
    }
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_END);
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_END);
    kr_log_reader_close(reader);
    free(sample);
    path_remove(path);
}

// A record larger than a chunk, and NULL strings.
static void test_extremes(void **state)
{
    (void)state;
    enum { LENGTH = 5 << 20 };
    char path[PATH_BYTES];
    path_make(path);
    char *text = malloc(LENGTH + 1);
    memset(text, 'x', LENGTH);
    text[LENGTH] = '\0';
    struct kr_log *log;
    kreplay_agent agent = {.size = sizeof(agent), .agent_id = 7};
    assert_int_equal(kr_log_create(path, &log), KREPLAY_OK);
    assert_int_equal(kr_log_put_message(log, ""), KREPLAY_OK);
    assert_int_equal(kr_log_put_message(log, text), KREPLAY_OK);
    assert_int_equal(kr_log_put_agent(log, &agent), KREPLAY_OK);
    kr_log_close(log);

    struct kr_log_reader *reader;
    kr_log_record record;
    assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_OK);
    assert_string_equal(record.u.message, "");
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_OK);
    assert_string_equal(record.u.message, text);
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_OK);
    assert_int_equal(record.u.agent.agent_id, 7);
    assert_string_equal(record.u.agent.name, "");
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_END);
    kr_log_reader_close(reader);
    free(text);
    path_remove(path);
}

// Decodes `value` without its last `missing` bytes, as a writer from before those fields left it.
static void decode_older(enum kr_log_type type, const void *value, size_t missing, kr_log_record *record,
                         struct kr_log_arrays *arrays)
{
    static uint8_t bytes[1 << 16];
    struct kr_out out = {.bytes = bytes, .capacity = sizeof(bytes)};
    kr_log_encode(&out, type, value);
    assert_true(out.used <= sizeof(bytes));
    size_t end = out.used;
    if (type == KR_LOG_DISPATCH) { // they are at the end of its second section
        struct kr_in in = {.bytes = bytes, .left = out.used};
        kr_in_section(&in);
        size_t begin = (size_t)(in.bytes - bytes) + 4;
        kr_in_section(&in);
        end = (size_t)(in.bytes - bytes);
        memmove(bytes + end - missing, bytes + end, out.used - end);
        struct kr_out length = {.bytes = bytes + begin - 4, .capacity = 4};
        kr_out_u32(&length, (uint32_t)(end - missing - begin));
    }
    assert_int_equal(kr_log_decode(bytes, out.used - missing, type, record, arrays), KREPLAY_OK);
}

static void test_fields_of_later_are_zero(void **state)
{
    (void)state;
    struct kr_log_arrays arrays = {0};
    struct sample *sample = malloc(sizeof(*sample));
    kr_log_record record = {0};
    uint64_t seed = SEED;
    for (unsigned i = 0; i < 100; i++) {
        sample_make(sample, KR_LOG_DISPATCH, &seed);
        decode_older(KR_LOG_DISPATCH, &sample->expected.u.dispatch.record, 20, &record, &arrays);
        kreplay_outcome *outcome = &sample->expected.u.dispatch.outcome;
        outcome->untracked_vmem_bytes = outcome->untracked_vmem_regions = outcome->disagreements = 0;
        sample_check(sample, &record);

        sample_make(sample, KR_LOG_GROUP, &seed);
        decode_older(KR_LOG_GROUP, &sample->expected.u.group, 8, &record, &arrays);
        sample->expected.u.group.witness_id = 0;
        sample_check(sample, &record);
    }
    const kr_log_end end = {.end_ns = 1, .dispatches = 2, .lost = 3};
    decode_older(KR_LOG_END, &end, 8, &record, &arrays);
    assert_int_equal(record.u.end.dispatches, 2);
    assert_int_equal(record.u.end.lost, 0);
    free(arrays.bytes);
    free(sample);
}

static void test_bad_calls(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    path_make(path);
    struct kr_log *log, *second;
    assert_int_equal(kr_log_create("/nowhere/at/all", &log), KREPLAY_IO);
    assert_int_equal(errno, ENOENT);
    assert_null(log);
    assert_int_equal(kr_log_create(path, &log), KREPLAY_OK);
    assert_int_equal(kr_log_create(path, &second), KREPLAY_IO);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(kr_log_put_message(log, NULL), KREPLAY_INVALID);
    kreplay_dispatch_record record = {.size = sizeof(record)};
    assert_int_equal(kr_log_put_dispatch(log, &record), KREPLAY_INVALID);
    kr_log_close(log);
    kr_log_close(NULL);

    struct kr_log_reader *reader;
    kr_log_record read;
    assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
    assert_int_equal(kr_log_next(reader, &read), KREPLAY_END);
    kr_log_reader_close(reader);
    kr_log_reader_close(NULL);
    assert_int_equal(kr_log_open("/nowhere/at/all", &reader), KREPLAY_IO);
    assert_int_equal(kr_log_open("/", &reader), KREPLAY_CORRUPT);
    path_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc32c),    cmocka_unit_test(test_random_records),
        cmocka_unit_test(test_extremes),  cmocka_unit_test(test_fields_of_later_are_zero),
        cmocka_unit_test(test_bad_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
