// SPDX-License-Identifier: MIT
// The terminal table, compared as a whole.
#include "export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct kr_table_options options;

static int run_table(struct kr_export *export)
{
    return kr_export_table(export, &options);
}

static void check(const struct sample_log *logs, size_t count, const char *expected)
{
    char *text = export_text(logs, count, run_table);
    assert_string_equal(text, expected);
    free(text);
}

// clang-format off: expected text, line by line
static void wide(void **state)
{
    (void)state;
    options = (struct kr_table_options){0};
    check(&(struct sample_log){0}, 1,
          "id  kernel     grid  work-group  passes  outcome                SQ_WAVES  SQ_INSTS_VALU  "
          "GRBM_COUNT  GRBM_GUI_ACTIVE  SQ_INSTS_SALU  SQ_INSTS_SMEM  SQ_INSTS_LDS\n"
          " 1  vecadd  1048576        1024       5  replayed                  16384           4002        "
          "6002             8002          10002          12002         14002\n"
          " 2  saxpy    262144         512       5  replayed                   4096           4004        "
          "6004             8004          10004          12004         14004\n"
          " 3  scale     65536         256       5  replayed                   1024           4006        "
          "6006             8006          10006          12006         14006\n"
          " 4  vecadd  1048576        1024  1 of 5  declined: host_memory         -              -           "
          "-                -              -              -             -\n"
          "\n"
          "host_memory (1): the kernel can reach host memory, which is not put back\n");
}

static void narrow_wraps_counters_into_blocks(void **state)
{
    (void)state;
    options = (struct kr_table_options){.width = 80};
    check(&(struct sample_log){0}, 1,
          "id  kernel     grid  work-group  passes  outcome                SQ_WAVES\n"
          " 1  vecadd  1048576        1024       5  replayed                  16384\n"
          " 2  saxpy    262144         512       5  replayed                   4096\n"
          " 3  scale     65536         256       5  replayed                   1024\n"
          " 4  vecadd  1048576        1024  1 of 5  declined: host_memory         -\n"
          "\n"
          "id  kernel  SQ_INSTS_VALU  GRBM_COUNT  GRBM_GUI_ACTIVE  SQ_INSTS_SALU\n"
          " 1  vecadd           4002        6002             8002          10002\n"
          " 2  saxpy            4004        6004             8004          10004\n"
          " 3  scale            4006        6006             8006          10006\n"
          " 4  vecadd              -           -                -              -\n"
          "\n"
          "id  kernel  SQ_INSTS_SMEM  SQ_INSTS_LDS\n"
          " 1  vecadd          12002         14002\n"
          " 2  saxpy           12004         14004\n"
          " 3  scale           12006         14006\n"
          " 4  vecadd              -             -\n"
          "\n"
          "host_memory (1): the kernel can reach host memory, which is not put back\n");
}

static void differing_passes_are_marked(void **state)
{
    (void)state;
    options = (struct kr_table_options){.max_rows = 1};
    check(&(struct sample_log){.drift = true, .killed = true}, 1,
          "id  kernel     grid  work-group  passes  outcome   SQ_WAVES  SQ_INSTS_VALU  GRBM_COUNT  "
          "GRBM_GUI_ACTIVE  SQ_INSTS_SALU  SQ_INSTS_SMEM  SQ_INSTS_LDS\n"
          " 1  vecadd  1048576        1024       5  replayed    16384*           4002        6002            "
          " 8002          10002          12002         14002\n"
          "\n"
          "* differs between passes by more than this counter may; the first of them is shown\n"
          "host_memory (1): the kernel can reach host memory, which is not put back\n"
          "... and 3 more dispatches, not shown here\n"
          "the record has no end: the program was killed, left without its exit handlers, or still had work "
          "running; its complete dispatches are all here\n");
}

static void nothing_recorded_is_said(void **state)
{
    (void)state;
    options = (struct kr_table_options){0};
    check(&(struct sample_log){.idle = true}, 1, "no dispatch to show\n");
}

static void processes_have_headings(void **state)
{
    (void)state;
    options = (struct kr_table_options){.max_rows = 1, .width = 70};
    check((struct sample_log[]){{.pid = 1}, {.pid = 2}}, 2,
          "process 1: ./three_kernels 1048576 1\n"
          "id  kernel     grid  work-group  passes  outcome   SQ_WAVES\n"
          " 1  vecadd  1048576        1024       5  replayed     16384\n"
          "\n"
          "id  kernel  SQ_INSTS_VALU  GRBM_COUNT  GRBM_GUI_ACTIVE  SQ_INSTS_SALU\n"
          " 1  vecadd           4002        6002             8002          10002\n"
          "\n"
          "id  kernel  SQ_INSTS_SMEM  SQ_INSTS_LDS\n"
          " 1  vecadd          12002         14002\n"
          "\n"
          "host_memory (1): the kernel can reach host memory, which is not put back\n"
          "... and 3 more dispatches, not shown here\n"
          "\n"
          "process 2: ./three_kernels 1048576 1\n"
          "id  kernel     grid  work-group  passes  outcome   SQ_WAVES\n"
          " 1  vecadd  1048576        1024       5  replayed     16384\n"
          "\n"
          "id  kernel  SQ_INSTS_VALU  GRBM_COUNT  GRBM_GUI_ACTIVE  SQ_INSTS_SALU\n"
          " 1  vecadd           4002        6002             8002          10002\n"
          "\n"
          "id  kernel  SQ_INSTS_SMEM  SQ_INSTS_LDS\n"
          " 1  vecadd          12002         14002\n"
          "\n"
          "host_memory (1): the kernel can reach host memory, which is not put back\n"
          "... and 3 more dispatches, not shown here\n");
}

// clang-format on

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide),
        cmocka_unit_test(narrow_wraps_counters_into_blocks),
        cmocka_unit_test(differing_passes_are_marked),
        cmocka_unit_test(nothing_recorded_is_said),
        cmocka_unit_test(processes_have_headings),
    };
    return cmocka_run_group_tests_name("export.table", tests, NULL, NULL);
}
