// SPDX-License-Identifier: MIT
// The PM4 interpreter: each packet it runs, written out as dwords, and streams that are malformed or point
// nowhere.
#include "cmocka_all.h"

#include "softgpu/cp/pm4.h"
#include "softgpu/perf/perf.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER(opcode, body) (0xc0000000u | ((uint32_t)(body)-1) << 16 | (uint32_t)(opcode) << 8)
#define LO(pointer)          ((uint32_t)(uintptr_t)(pointer))
#define HI(pointer)          ((uint32_t)((uint64_t)(uintptr_t)(pointer) >> 32))
#define RUN(fx, code)                                                                                        \
    sg_pm4_run((fx)->perf, &(fx)->queue, code, sizeof(code) / 4, (fx)->error, sizeof((fx)->error))

struct fixture {
    struct sg_perf *perf;
    struct sg_pm4_queue queue;
    uint32_t *hole, *read_only; // a page without access, a page that cannot be written
    size_t page_bytes;
    char error[256];
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *fx = &fixture;

    memset(fx, 0, sizeof(*fx));
    fx->perf = sg_perf_create();
    fx->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    fx->hole = mmap(NULL, fx->page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fx->read_only = mmap(NULL, fx->page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *state = fx;
    return fx->perf && fx->hole != MAP_FAILED && fx->read_only != MAP_FAILED ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *fx = *state;

    munmap(fx->hole, fx->page_bytes);
    munmap(fx->read_only, fx->page_bytes);
    sg_perf_destroy(fx->perf);
    return 0;
}

static void assert_error(struct fixture *fx, int rc, const char *part)
{
    assert_int_equal(rc, -1);
    if (!strstr(fx->error, part))
        fail_msg("\"%s\" does not say \"%s\"", fx->error, part);
}

static void test_empty_and_filler(void **state)
{
    struct fixture *fx = *state;
    const uint32_t code[] = {0x80000000u, HEADER(0x10, 2), 1,     2,
                             0xffff1000u, HEADER(0x46, 1), 0x407, 0x80000000u};

    assert_int_equal(sg_pm4_run(fx->perf, &fx->queue, NULL, 0, fx->error, sizeof(fx->error)), 0);
    assert_int_equal(RUN(fx, code), 0);
}

static void test_set_uconfig_writes_consecutive_registers(void **state)
{
    struct fixture *fx = *state;
    const uint32_t code[] = {HEADER(0x79, 4), 0x19c0, 4, 26, 56};

    assert_int_equal(RUN(fx, code), 0);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c0), 4);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c1), 26);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c2), 56);
}

static void test_set_sh_arms_the_queue_alone(void **state)
{
    struct fixture *fx = *state;
    const uint32_t on[] = {HEADER(0x76, 2), 0x20b, 1}, off[] = {HEADER(0x76, 2), 0x20b, 0};
    struct sg_pm4_queue other = {0};

    assert_int_equal(RUN(fx, on), 0);
    assert_int_equal(fx->queue.compute_perfcount_enable, 1);
    assert_int_equal(other.compute_perfcount_enable, 0);
    assert_int_equal(RUN(fx, off), 0);
    assert_int_equal(fx->queue.compute_perfcount_enable, 0);
}

static void test_registers_beyond_their_space_are_refused(void **state)
{
    struct fixture *fx = *state;
    const uint32_t last[] = {HEADER(0x79, 2), 0x3fff, 1}, past[] = {HEADER(0x79, 3), 0x3fff, 1, 1};
    const uint32_t sh[] = {HEADER(0x76, 2), 0x400, 1};

    assert_int_equal(RUN(fx, last), 0);
    assert_error(fx, RUN(fx, past), "SET_UCONFIG_REG at dword 0");
    assert_error(fx, RUN(fx, sh), "SET_SH_REG at dword 0");
}

static void test_copy_data_forms(void **state)
{
    struct fixture *fx = *state;
    uint32_t from[2] = {11, 22}, to[6] = {0};
    const uint32_t code[] = {
        HEADER(0x79, 3),
        0x19c0,
        7,
        8,
        // SQ select 0 to memory, as AMD's library copies; selects 0 and 1 as 64 bits; memory; immediate; to a
        // register
        HEADER(0x40, 5),
        0x02002500,
        0xd9c0,
        0,
        LO(&to[0]),
        HI(&to[0]),
        HEADER(0x40, 5),
        0x00010500,
        0xd9c0,
        0,
        LO(&to[1]),
        HI(&to[1]),
        HEADER(0x40, 5),
        0x00010201,
        LO(from),
        HI(from),
        LO(&to[3]),
        HI(&to[3]),
        HEADER(0x40, 5),
        0x00000505,
        33,
        0,
        LO(&to[5]),
        HI(&to[5]),
        HEADER(0x40, 5),
        0x00000005,
        44,
        0,
        0xd9c5,
        0,
    };
    const uint32_t expected[6] = {7, 7, 8, 11, 22, 33};

    assert_int_equal(RUN(fx, code), 0);
    assert_memory_equal(to, expected, sizeof(to));
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c5), 44);
}

static void test_copy_data_unknown_forms_name_the_control_word(void **state)
{
    struct fixture *fx = *state;
    uint32_t to = 0;
    const uint32_t clock[] = {HEADER(0x40, 5), 0x00000509, 0, 0, LO(&to), HI(&to)};
    const uint32_t gds[] = {HEADER(0x40, 5), 0x00000305, 1, 0, LO(&to), HI(&to)};

    assert_error(fx, RUN(fx, clock), "0x00000509");
    assert_error(fx, RUN(fx, gds), "0x00000305");
    assert_int_equal(to, 0);
}

static void test_counters_without_a_model_are_errors(void **state)
{
    struct fixture *fx = *state;
    uint32_t to[2] = {0};
    const uint32_t event[] = {HEADER(0x79, 2), 0x19c0,     66, // SQ_INSTS_VSKIPPED
                              HEADER(0x40, 5), 0x00010504, 0xd1c0, 0, LO(to), HI(to)};
    const uint32_t block[] = {HEADER(0x40, 5), 0x02002500, 0xd240, 0, LO(to), HI(to)};
    const uint32_t wait[] = {HEADER(0x3c, 6), 0x03, 0xd1c0, 0, 0, 0xffffffff, 4};

    assert_error(fx, RUN(fx, event), "COPY_DATA at dword 3: event 66 of block SQ is not modelled");
    assert_error(fx, RUN(fx, block), "COPY_DATA at dword 0: register 0xd240 holds a counter");
    assert_error(fx, RUN(fx, wait), "WAIT_REG_MEM at dword 0: event 66 of block SQ is not modelled");
    assert_int_equal(to[0], 0);
}

static void test_write_data(void **state)
{
    struct fixture *fx = *state;
    uint32_t to[3] = {0}, last = 0;
    const uint32_t code[] = {
        HEADER(0x37, 6), 0x00000500, LO(to),    HI(to),    1, 2,  3,
        HEADER(0x37, 6), 0x00010500, LO(&last), HI(&last), 4, 5,  6,
        HEADER(0x37, 5), 0x00000000, 0xd9c0,    0,         9, 10,
    };
    const uint32_t expected[3] = {1, 2, 3};

    assert_int_equal(RUN(fx, code), 0);
    assert_memory_equal(to, expected, sizeof(to));
    assert_int_equal(last, 6);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c1), 10);
}

static void test_release_mem_writes_its_data(void **state)
{
    struct fixture *fx = *state;
    uint32_t to[4] = {0};
    const uint32_t code[] = {
        HEADER(0x49, 7), 0x514, 0x20000000, LO(&to[0]), HI(&to[0]), 5, 6, 0,
        HEADER(0x49, 6), 0x514, 0x40000000, LO(&to[2]), HI(&to[2]), 7, 8, HEADER(0x49, 6),
        0x514,           0,     0,          0,          9,          9, // no data
    };
    const uint32_t clock[] = {HEADER(0x49, 6), 0x514, 0x60000000, LO(to), HI(to), 0, 0};
    const uint32_t expected[4] = {5, 0, 7, 8};

    assert_int_equal(RUN(fx, code), 0);
    assert_memory_equal(to, expected, sizeof(to));
    assert_error(fx, RUN(fx, clock), "0x60000000");
}

static void test_wait_that_is_met(void **state)
{
    struct fixture *fx = *state;
    uint32_t word = 0x1234;
    const uint32_t code[] = {
        HEADER(0x79, 2),
        0x19c0,
        5,
        HEADER(0x3c, 6),
        0x13,
        LO(&word),
        HI(&word),
        0x34,
        0xff,
        4, // memory, ==
        HEADER(0x3c, 6),
        0x05,
        0xd9c0,
        0,
        5,
        0xffffffff,
        4, // register, >=
        HEADER(0x3c, 6),
        0x10,
        LO(&word),
        HI(&word),
        0,
        0,
        4, // always
        HEADER(0x79, 2),
        0x19c0,
        6,
    };

    assert_int_equal(RUN(fx, code), 0);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c0), 6);
}

static void test_wait_that_is_not_met_ends(void **state)
{
    struct fixture *fx = *state;
    uint32_t word = 7;
    const uint32_t code[] = {HEADER(0x3c, 6), 0x13, LO(&word), HI(&word), 8, 0xffffffff, 4};
    const uint32_t form[] = {HEADER(0x3c, 6), 0x53, LO(&word), HI(&word), 8, 0xffffffff, 4};

    assert_error(fx, RUN(fx, code), "gave up waiting: 0x7");
    assert_error(fx, RUN(fx, form), "0x00000053");
}

static void test_indirect_buffers(void **state)
{
    struct fixture *fx = *state;
    const uint32_t inner[] = {HEADER(0x79, 2), 0x19c0, 5};
    const uint32_t middle[] = {HEADER(0x3f, 3), LO(inner), HI(inner), 0x10800003};
    const uint32_t outer[] = {HEADER(0x3f, 3), LO(middle), HI(middle), 0x10800004,
                              HEADER(0x79, 2), 0x19c1,     6};

    assert_int_equal(RUN(fx, outer), 0);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c0), 5);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c1), 6);
}

static void test_indirect_buffer_into_itself_ends(void **state)
{
    struct fixture *fx = *state;
    uint32_t loop[4] = {HEADER(0x3f, 3), 0, 0, 0x10800004};

    loop[1] = LO(loop);
    loop[2] = HI(loop);
    assert_error(fx, RUN(fx, loop), "nest deeper");
}

static void test_unknown_packets_are_skipped(void **state)
{
    struct fixture *fx = *state;
    const uint32_t code[] = {HEADER(0x58, 6), 0,      0, 0, 0, 0, 0, HEADER(0x2f, 2), 1, 2,
                             HEADER(0x79, 2), 0x19c0, 3};

    assert_int_equal(RUN(fx, code), 0);
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c0), 3);
}

// The name of the packet counts, not what its dwords look like.
static void test_acquire_mem_is_told(void **state)
{
    struct fixture *fx = *state;
    const uint32_t inner[] = {HEADER(0x58, 6), 0, 0, 0, 0, 0, 0};
    const uint32_t outer[] = {HEADER(0x3f, 3), LO(inner), HI(inner), 0x10800007};
    const uint32_t behind_a_lone_nop[] = {0xffff1000u, HEADER(0x58, 6), 0, 0, 0, 0, 0, 0};
    const uint32_t as_data[] = {HEADER(0x10, 7), HEADER(0x58, 6), 0, 0, 0, 0, 0, 0};

    assert_int_equal(RUN(fx, as_data), 0);
    assert_false(fx->queue.acquired);
    assert_int_equal(RUN(fx, behind_a_lone_nop), 0);
    assert_true(fx->queue.acquired);
    fx->queue.acquired = false;
    assert_int_equal(RUN(fx, outer), 0);
    assert_true(fx->queue.acquired);
}

static void test_malformed_streams(void **state)
{
    struct fixture *fx = *state;
    const uint32_t truncated[] = {HEADER(0x10, 1), 0, HEADER(0x79, 2), 0x19c0};
    const uint32_t huge[] = {0xfffe7900u, 0x19c0, 1};
    const uint32_t lone[] = {HEADER(0x79, 2)};
    const uint32_t too_short[] = {HEADER(0x40, 2), 0x02002500, 0xd9c0};
    const uint32_t type0[] = {0x00000000u}, type1[] = {0x40000000u};

    assert_error(fx, RUN(fx, truncated),
                 "SET_UCONFIG_REG at dword 2: header 0xc0017900 asks for 2 dwords, 1 are left");
    assert_error(fx, RUN(fx, huge), "asks for 16383 dwords, 2 are left");
    assert_error(fx, RUN(fx, lone), "0 are left");
    assert_error(fx, RUN(fx, too_short),
                 "COPY_DATA at dword 0: header 0xc0014000 has 2 dwords, 5 are needed");
    assert_error(fx, RUN(fx, type0), "type 0");
    assert_error(fx, RUN(fx, type1), "type 1");
    assert_int_equal(sg_perf_read(fx->perf, 0xd9c0), 0);
}

static void test_unmapped_memory_is_an_error(void **state)
{
    struct fixture *fx = *state;
    uint32_t *hole = fx->hole, *fixed = fx->read_only;
    const uint32_t to_hole[] = {HEADER(0x40, 5), 0x02002500, 0xd9c0, 0, LO(hole), HI(hole)};
    const uint32_t to_fixed[] = {HEADER(0x37, 4), 0x500, LO(fixed), HI(fixed), 1};
    const uint32_t from_hole[] = {HEADER(0x40, 5), 0x501, LO(hole), HI(hole), LO(fixed), HI(fixed)};
    const uint32_t release[] = {HEADER(0x49, 6), 0x514, 0x40000000, LO(hole), HI(hole), 7, 8};
    const uint32_t wait[] = {HEADER(0x3c, 6), 0x13, LO(hole), HI(hole), 8, 0xffffffff, 4};
    const uint32_t buffer[] = {HEADER(0x3f, 3), LO(hole), HI(hole), 0x10800004};

    assert_error(fx, RUN(fx, to_hole), "COPY_DATA at dword 0: cannot write 4 bytes at 0x");
    assert_error(fx, RUN(fx, to_fixed), "cannot write 4 bytes");
    assert_error(fx, RUN(fx, from_hole), "cannot read 4 bytes");
    assert_error(fx, RUN(fx, release), "cannot write 8 bytes");
    assert_error(fx, RUN(fx, wait), "cannot read 4 bytes");
    assert_error(fx, RUN(fx, buffer), "cannot read 16 bytes");
    assert_error(fx, sg_pm4_run(fx->perf, &fx->queue, hole, 4, fx->error, sizeof(fx->error)),
                 "cannot read 16 bytes");
    assert_error(fx, sg_pm4_run(fx->perf, &fx->queue, hole, SIZE_MAX / 4, fx->error, sizeof(fx->error)),
                 "limit");
}

static void test_error_text_is_optional_and_bounded(void **state)
{
    struct fixture *fx = *state;
    const uint32_t bad[] = {0};
    char text[8] = "abcdefg";

    assert_int_equal(sg_pm4_run(fx->perf, &fx->queue, bad, 1, NULL, 0), -1);
    assert_int_equal(sg_pm4_run(fx->perf, &fx->queue, bad, 1, text, 4), -1);
    assert_string_equal(text, "PM4");
    assert_memory_equal(text + 4, "efg", 4);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_empty_and_filler),
        TEST(test_set_uconfig_writes_consecutive_registers),
        TEST(test_set_sh_arms_the_queue_alone),
        TEST(test_registers_beyond_their_space_are_refused),
        TEST(test_copy_data_forms),
        TEST(test_copy_data_unknown_forms_name_the_control_word),
        TEST(test_counters_without_a_model_are_errors),
        TEST(test_write_data),
        TEST(test_release_mem_writes_its_data),
        TEST(test_wait_that_is_met),
        TEST(test_wait_that_is_not_met_ends),
        TEST(test_indirect_buffers),
        TEST(test_indirect_buffer_into_itself_ends),
        TEST(test_unknown_packets_are_skipped),
        TEST(test_acquire_mem_is_told),
        TEST(test_malformed_streams),
        TEST(test_unmapped_memory_is_an_error),
        TEST(test_error_text_is_optional_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
