// SPDX-License-Identifier: MIT
// Whatever is put into a log is read back the same, of every type, with any content and across the writer's
// chunks.
#include "files.h"
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
    assert_int_equal(kr_crc32c(bytes, sizeof(bytes)), 0x8A9136AA);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(kr_crc32c(bytes, sizeof(bytes)), 0x62A8AB43);
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
        sample_make(sample, (enum kr_log_type)(KR_LOG_PROCESS + sample_random(&seed) % KR_LOG_END), &seed);
        assert_int_equal(sample_put(log, sample), KREPLAY_OK);
    }
    kr_log_close(log);

    struct kr_log_reader *reader;
    kr_log_record record;
    uint64_t last_offset = 0;
    assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
    seed = SEED;
    for (unsigned i = 0; i < COUNT; i++) {
        sample_make(sample, (enum kr_log_type)(KR_LOG_PROCESS + sample_random(&seed) % KR_LOG_END), &seed);
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
        cmocka_unit_test(test_crc32c),
        cmocka_unit_test(test_random_records),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_bad_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
