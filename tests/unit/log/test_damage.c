// SPDX-License-Identifier: MIT
// A damaged log gives what was whole before the damage, says that it is damaged, and never more than was put.
#include "files.h"
#include "log/crc32c.h"
#include "log/format.h"
#include "log/wire.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { RECORDS = 10 }; // one of each type

struct fixture {
    char path[PATH_BYTES];
    uint8_t *bytes; // of the whole log
    size_t count;
    size_t ends[RECORDS]; // where each record ends, without its padding
    struct sample samples[RECORDS];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    *state = f;
    path_make(f->path);
    struct kr_log *log;
    uint64_t seed = 4711;
    assert_int_equal(kr_log_create(f->path, &log), KREPLAY_OK);
    for (unsigned i = 0; i < RECORDS; i++) {
        sample_make(&f->samples[i], (enum kr_log_type)(KR_LOG_PROCESS + i), &seed);
        assert_int_equal(sample_put(log, &f->samples[i]), KREPLAY_OK);
    }
    kr_log_close(log);
    f->bytes = file_read(f->path, &f->count);

    struct kr_log_reader *reader;
    kr_log_record record;
    assert_int_equal(kr_log_open(f->path, &reader), KREPLAY_OK);
    for (unsigned i = 0; i < RECORDS; i++) {
        assert_int_equal(kr_log_next(reader, &record), KREPLAY_OK);
        struct kr_in in = {.bytes = f->bytes + record.offset, .left = 4};
        f->ends[i] = record.offset + kr_in_u32(&in);
    }
    kr_log_reader_close(reader);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    path_remove(f->path);
    free(f->bytes);
    free(f);
    return 0;
}

// Reads the file and checks each record against the samples; *last is how the reading ended.
static unsigned read_all(const struct fixture *f, int *last)
{
    struct kr_log_reader *reader;
    kr_log_record record;
    unsigned count = 0;
    *last = kr_log_open(f->path, &reader);
    if (*last != KREPLAY_OK)
        return 0;
    while ((*last = kr_log_next(reader, &record)) == KREPLAY_OK) {
        assert_true(count < RECORDS);
        sample_check(&f->samples[count++], &record);
    }
    assert_int_equal(kr_log_next(reader, &record), *last); // stays so
    kr_log_reader_close(reader);
    return count;
}

static void test_cut_anywhere(void **state)
{
    struct fixture *f = *state;
    for (size_t cut = f->count + 1; cut-- > 0;) {
        int last;
        assert_int_equal(truncate(f->path, (off_t)cut), 0);
        unsigned count = read_all(f, &last);
        unsigned whole = 0;
        while (whole < RECORDS && f->ends[whole] <= cut)
            whole++;
        assert_int_equal(count, whole);
        // Nothing follows the last whole record but its padding: an end. Else there are bytes that are no
        // record.
        size_t end = whole == 0 ? KR_LOG_HEADER_BYTES : f->ends[whole - 1];
        bool clean = cut <= kr_log_align(end);
        assert_int_equal(last, clean ? KREPLAY_END : KREPLAY_CORRUPT);
    }
}

// Any single flipped bit is found: the records before it are read, none is read wrongly, the log counts as
// damaged.
static void test_flip_any_bit(void **state)
{
    struct fixture *f = *state;
    unsigned unnoticed = 0;
    for (size_t bit = 0; bit < 8 * f->count; bit++) {
        size_t at = bit / 8;
        file_set_byte(f->path, at, f->bytes[at] ^ (uint8_t)(1u << (bit % 8)));
        int last;
        unsigned count = read_all(f, &last);
        file_set_byte(f->path, at, f->bytes[at]);
        if (at < 16) { // magic, version, size of the header
            assert_true(last == KREPLAY_CORRUPT || last == KREPLAY_UNSUPPORTED);
            continue;
        }
        unsigned before = 0;
        while (before < RECORDS && kr_log_align(f->ends[before]) <= at)
            before++;
        if (last == KREPLAY_END && count == RECORDS)
            unnoticed++; // in the header's reserve or in padding
        else
            assert_true(last == KREPLAY_CORRUPT && count == before);
    }
    size_t spare = KR_LOG_HEADER_BYTES - 16;
    for (unsigned i = 0; i < RECORDS; i++)
        spare += kr_log_align(f->ends[i]) - f->ends[i];
    assert_int_equal(unnoticed, 8 * spare);
}

// A crashed file system leaves zeros in place of blocks. The end of a log looks like that, but nothing
// follows there.
static void test_zeroed_middle(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < RECORDS; i++) {
        size_t begin = i == 0 ? KR_LOG_HEADER_BYTES : kr_log_align(f->ends[i - 1]);
        uint8_t *copy = malloc(f->count);
        memcpy(copy, f->bytes, f->count);
        memset(copy + begin, 0, f->ends[i] - begin);
        file_write(f->path, copy, f->count);
        free(copy);
        int last;
        assert_int_equal(read_all(f, &last), i);
        assert_int_equal(last, i == RECORDS - 1 ? KREPLAY_END : KREPLAY_CORRUPT);
    }
}

// Killed inside a put: everything is there but the commit word. That is no damage.
static void test_unfinished_record(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < RECORDS; i++) {
        size_t begin = i == 0 ? KR_LOG_HEADER_BYTES : kr_log_align(f->ends[i - 1]);
        uint8_t *copy = calloc(1, f->ends[i] + 4096);
        memcpy(copy, f->bytes, f->ends[i]);
        memset(copy + begin, 0, KR_LOG_COMMIT_BYTES);
        file_write(f->path, copy, f->ends[i] + 4096);
        free(copy);
        int last;
        assert_int_equal(read_all(f, &last), i);
        assert_int_equal(last, KREPLAY_END);
    }
}

// Writes a record by hand.
static size_t craft(uint8_t *to, uint32_t type, const void *payload, size_t bytes)
{
    struct kr_out out = {.bytes = to + KR_LOG_COMMIT_BYTES, .capacity = bytes + 8};
    kr_out_u32(&out, type);
    kr_out_u32(&out, KR_LOG_MARKER);
    kr_out_bytes(&out, payload, bytes);
    uint64_t length = KR_LOG_RECORD_HEADER + bytes;
    struct kr_out commit = {.bytes = to, .capacity = KR_LOG_COMMIT_BYTES};
    kr_out_u64(&commit,
               (uint64_t)kr_crc32c(to + KR_LOG_COMMIT_BYTES, length - KR_LOG_COMMIT_BYTES) << 32 | length);
    return kr_log_align(length);
}

static void test_unknown_types_are_skipped(void **state)
{
    struct fixture *f = *state;
    // The whole log with a record of a type from the future before the first and after each.
    uint8_t *copy = calloc(1, f->count + (RECORDS + 1) * 64);
    memcpy(copy, f->bytes, KR_LOG_HEADER_BYTES);
    size_t used = KR_LOG_HEADER_BYTES;
    size_t begin = KR_LOG_HEADER_BYTES;
    for (unsigned i = 0; i < RECORDS; i++) {
        used += craft(copy + used, 1000 + i, "from the future", i);
        memcpy(copy + used, f->bytes + begin, f->ends[i] - begin);
        used += kr_log_align(f->ends[i]) - begin;
        begin = kr_log_align(f->ends[i]);
    }
    used += craft(copy + used, 0, "", 0);
    file_write(f->path, copy, used);
    free(copy);
    int last;
    assert_int_equal(read_all(f, &last), RECORDS);
    assert_int_equal(last, KREPLAY_END);
}

// A right checksum over a payload that lies about itself.
static void test_lying_payload(void **state)
{
    struct fixture *f = *state;
    static const struct {
        uint32_t type;
        uint8_t payload[16];
        size_t bytes;
    } cases[] = {
        {KR_LOG_MESSAGE, {0xff, 0xff, 0xff, 0xff, 'x', 0}, 6},       // longer than the record
        {KR_LOG_MESSAGE, {1, 0, 0, 0, 'x', 'y'}, 6},                 // not terminated
        {KR_LOG_MESSAGE, {0}, 3},                                    // no room for a length
        {KR_LOG_GROUP, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}, 12}, // two thousand million counters
        {KR_LOG_DISPATCH, {0xff, 0xff, 0xff, 0xff}, 4},
        {KR_LOG_END, {0}, 15},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t file[256];
        memcpy(file, f->bytes, KR_LOG_HEADER_BYTES);
        size_t used = craft(file + KR_LOG_HEADER_BYTES, cases[i].type, cases[i].payload, cases[i].bytes);
        file_write(f->path, file, KR_LOG_HEADER_BYTES + used);
        int last;
        assert_int_equal(read_all(f, &last), 0);
        assert_int_equal(last, KREPLAY_CORRUPT);
    }
}

// The process ended while the header was written: its room is there, not all of its bytes.
static void test_unfinished_header(void **state)
{
    struct fixture *f = *state;
    for (size_t written = 0; written <= KR_LOG_HEADER_BYTES; written++) {
        uint8_t header[KR_LOG_HEADER_BYTES] = {0};
        int last;
        memcpy(header, f->bytes, written);
        file_write(f->path, header, sizeof(header));
        assert_int_equal(read_all(f, &last), 0);
        assert_int_equal(last, KREPLAY_END);
    }
}

static void test_not_a_log(void **state)
{
    struct fixture *f = *state;
    struct kr_log_reader *reader;
    file_write(f->path, "KRLOG!", 6);
    assert_int_equal(kr_log_open(f->path, &reader), KREPLAY_CORRUPT);
    file_write(f->path, "something else, longer than the header of a log is, and that is why it goes on here",
               82);
    assert_int_equal(kr_log_open(f->path, &reader), KREPLAY_CORRUPT);
    f->bytes[KR_LOG_MAGIC_BYTES]++; // version
    file_write(f->path, f->bytes, f->count);
    assert_int_equal(kr_log_open(f->path, &reader), KREPLAY_UNSUPPORTED);
    assert_null(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_cut_anywhere),  TEST(test_unfinished_header), TEST(test_flip_any_bit),
        TEST(test_zeroed_middle), TEST(test_unfinished_record), TEST(test_unknown_types_are_skipped),
        TEST(test_lying_payload), TEST(test_not_a_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
