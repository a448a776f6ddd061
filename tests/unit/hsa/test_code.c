// SPDX-License-Identifier: MIT
// What kreplay reads in code objects, and that damaged ones are survived.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_object.h"
#include "hsa/code_elf.h"
#include "hsa/metadata.h"

static const struct test_argument plain[] = {{"global_buffer", NULL, 0, 8}, {"by_value", NULL, 8, 4}};
static const struct test_argument reading[] = {{"global_buffer", NULL, 0, 8},
                                               {"global_buffer", "read_only", 8, 8},
                                               {"global_buffer", "read_write", 16, 8}};
static const struct test_argument printing[] = {{"global_buffer", NULL, 0, 8},
                                                {"hidden_hostcall_buffer", NULL, 8, 8}};
static const struct test_argument quiet[] = {{"global_buffer", NULL, 0, 8}, {"hidden_none", NULL, 8, 8}};
static const struct test_kernel kernels[] = {
    {"plain.kd", plain, 2},
    {"reading.kd", reading, 3},
    {"a_kernel_whose_name_is_longer_than_31_bytes.kd", printing, 2},
    {"quiet.kd", quiet, 2},
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

struct seen {
    struct kr_kernel_metadata kernels[16];
    unsigned count;
};

static void note_kernel(void *arg, const struct kr_kernel_metadata *kernel)
{
    struct seen *seen = arg;
    if (seen->count < 16)
        seen->kernels[seen->count++] = *kernel;
}

static void metadata_is_read(void **state)
{
    (void)state;
    struct bytes note = {0};
    struct seen seen = {0};
    make_metadata(&note, kernels, KERNELS);
    assert_true(kr_metadata_kernels(note.data, note.size, note_kernel, &seen));
    assert_int_equal(seen.count, KERNELS);
    for (unsigned i = 0; i < KERNELS; i++) {
        assert_int_equal(seen.kernels[i].symbol_length, strlen(kernels[i].symbol));
        assert_memory_equal(seen.kernels[i].symbol, kernels[i].symbol, strlen(kernels[i].symbol));
        assert_int_equal(seen.kernels[i].sgprs, 10 + i);
        assert_int_equal(seen.kernels[i].vgprs, 20 + i);
        assert_int_equal(seen.kernels[i].talks_to_host, i == 2);
        assert_int_equal(seen.kernels[i].read_only_words, i == 1 ? 2 : 0);
    }
}

static void damaged_metadata_is_survived(void **state)
{
    (void)state;
    struct bytes note = {0};
    make_metadata(&note, kernels, KERNELS);
    for (size_t size = 0; size < note.size; size++) {
        struct seen seen = {0};
        unsigned char *copy = malloc(size ? size : 1); // so that ASan sees a read behind the end
        memcpy(copy, note.data, size);
        assert_false(kr_metadata_kernels(copy, size, note_kernel, &seen));
        free(copy);
    }
    srand(1);
    for (unsigned round = 0; round < 20000; round++) {
        struct seen seen = {0};
        struct bytes bad = note;
        for (unsigned i = 0; i < 3; i++)
            bad.data[(unsigned)rand() % bad.size] = (unsigned char)rand();
        unsigned char *copy = malloc(bad.size);
        memcpy(copy, bad.data, bad.size);
        kr_metadata_kernels(copy, bad.size, note_kernel, &seen);
        free(copy);
    }
    assert_false(kr_metadata_kernels(NULL, 0, note_kernel, NULL));
}

struct ranges {
    uint64_t address[8], bytes[8];
    unsigned count;
};

static void note_range(void *arg, uint64_t address, uint64_t bytes)
{
    struct ranges *r = arg;
    if (r->count < 8) {
        r->address[r->count] = address;
        r->bytes[r->count] = bytes;
    }
    r->count++;
}

// The file has these descriptions, in this order, and no others.
static void assert_metadata(struct kr_code_elf *elf, const struct bytes *notes, unsigned count)
{
    const void *metadata;
    size_t bytes;
    for (unsigned i = 0; i < count; i++) {
        assert_true(kr_code_elf_metadata(elf, &metadata, &bytes));
        assert_int_equal(bytes, notes[i].size);
        assert_memory_equal(metadata, notes[i].data, bytes);
    }
    assert_false(kr_code_elf_metadata(elf, &metadata, &bytes));
}

static void writable_sections_are_found(void **state)
{
    (void)state;
    struct bytes note = {0}, file = {0};
    struct kr_code_elf elf;
    struct ranges ranges = {0};
    make_metadata(&note, kernels, KERNELS);
    make_code_object(&file, &note, 1, "counter", true);
    assert_true(kr_code_elf_read(file.data, file.size, &elf, note_range, &ranges));
    assert_int_equal(ranges.count, 2); // neither read-only data nor the dynamic section
    assert_int_equal(ranges.address[0], 0x2000);
    assert_int_equal(ranges.bytes[0], 64);
    assert_int_equal(ranges.address[1], 0x2040);
    assert_int_equal(ranges.bytes[1], 32);
    assert_metadata(&elf, &note, 1);
    assert_false(elf.managed);
}

static void managed_variables_are_found(void **state)
{
    (void)state;
    struct bytes note = {0}, file = {0};
    struct kr_code_elf elf;
    struct ranges ranges = {0};
    make_code_object(&file, &note, 1, "shared.managed", true);
    assert_true(kr_code_elf_read(file.data, file.size, &elf, note_range, &ranges));
    assert_true(elf.managed);
}

static void segments_stand_in_for_sections(void **state)
{
    (void)state;
    struct bytes note = {0}, file = {0};
    struct kr_code_elf elf;
    struct ranges ranges = {0};
    make_metadata(&note, kernels, KERNELS);
    make_code_object(&file, &note, 1, "counter", false);
    assert_true(kr_code_elf_read(file.data, file.size, &elf, note_range, &ranges));
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.address[0], 0x2000);
    assert_int_equal(ranges.bytes[0], 96);
    assert_metadata(&elf, &note, 1);
}

// As a linker leaves them that made one code object of three.
static void all_descriptions_are_found(void **state)
{
    (void)state;
    struct bytes notes[3] = {0}, file = {0};
    struct kr_code_elf elf;
    struct ranges ranges = {0};
    for (unsigned i = 0; i < 3; i++)
        make_metadata(&notes[i], &kernels[i % KERNELS], 1);
    make_code_object(&file, notes, 3, "counter", true);
    assert_true(kr_code_elf_read(file.data, file.size, &elf, note_range, &ranges));
    assert_metadata(&elf, notes, 3);
}

static void walk_metadata(struct kr_code_elf *elf)
{
    const void *metadata;
    size_t bytes;
    while (kr_code_elf_metadata(elf, &metadata, &bytes)) {
        struct seen seen = {0};
        kr_metadata_kernels(metadata, bytes, note_kernel, &seen);
    }
}

static void damaged_files_are_survived(void **state)
{
    (void)state;
    struct bytes note = {0}, file = {0};
    struct kr_code_elf elf;
    make_metadata(&note, kernels, KERNELS);
    make_code_object(&file, &note, 1, "counter", true);
    for (size_t size = 0; size <= file.size; size++) {
        struct ranges ranges = {0};
        unsigned char *copy = malloc(size ? size : 1);
        memcpy(copy, file.data, size);
        assert_int_equal(kr_code_elf_read(copy, size, &elf, note_range, &ranges), size >= 64);
        walk_metadata(&elf);
        free(copy);
    }
    srand(2);
    for (unsigned round = 0; round < 20000; round++) {
        struct ranges ranges = {0};
        struct bytes bad = file;
        for (unsigned i = 0; i < 4; i++)
            bad.data[(unsigned)rand() % bad.size] = (unsigned char)rand();
        unsigned char *copy = malloc(bad.size);
        memcpy(copy, bad.data, bad.size);
        if (kr_code_elf_read(copy, bad.size, &elf, note_range, &ranges))
            walk_metadata(&elf);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_is_read),
        cmocka_unit_test(damaged_metadata_is_survived),
        cmocka_unit_test(writable_sections_are_found),
        cmocka_unit_test(managed_variables_are_found),
        cmocka_unit_test(segments_stand_in_for_sections),
        cmocka_unit_test(all_descriptions_are_found),
        cmocka_unit_test(damaged_files_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
