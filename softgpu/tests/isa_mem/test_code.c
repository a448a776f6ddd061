// SPDX-License-Identifier: MIT
// The cache of decoded code: rewritten code, instructions across pages, several threads.
#include "softgpu/tests/isa_mem/rig.h"

#include <pthread.h>
#include <sys/mman.h>

#define CODE_BYTES 8192

static uint8_t *code_memory(void)
{
    uint8_t *p = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    return p;
}

static void place(uint8_t *at, const char *kernel)
{
    memcpy(at, (const void *)(uintptr_t)rig_kernel(kernel), rig_kernel_bytes(kernel));
}

static uint32_t run_at(const uint8_t *at)
{
    uint32_t out = 0;
    struct rig rig;
    rig_begin(&rig, "write_one", NULL, &out, NULL);
    rig.launch.entry = (uintptr_t)at;
    rig_run(&rig);
    return out;
}

// Nobody tells the interpreter, as when a kernel copies code.
static void rewritten(void **state)
{
    (void)state;
    uint8_t *code = code_memory();
    for (unsigned round = 0; round < 3; round++) {
        place(code, "write_one");
        assert_int_equal(run_at(code), 1);
        assert_int_equal(run_at(code), 1);
        place(code, "write_two");
        assert_int_equal(run_at(code), 2);
    }
    munmap(code, CODE_BYTES);
}

// Code at every position around the end of a page, where instructions lie across it; then rewritten there,
// which changes the second page only for some of the positions.
static void across_pages(void **state)
{
    (void)state;
    uint8_t *code = code_memory();
    for (unsigned at = 4096 - 64; at <= 4096; at += 4) {
        place(code + at, "write_one");
        assert_int_equal(run_at(code + at), 1);
        place(code + at, "write_two");
        assert_int_equal(run_at(code + at), 2);
    }
    munmap(code, CODE_BYTES);
}

static void invalidated(void **state)
{
    (void)state;
    uint8_t *code = code_memory();
    place(code, "write_one");
    assert_int_equal(run_at(code), 1);
    sg_isa_invalidate((uintptr_t)code, CODE_BYTES);
    assert_int_equal(run_at(code), 1);
    sg_isa_invalidate(0, UINT64_MAX);
    sg_isa_invalidate((uintptr_t)code + 1, 0);
    sg_isa_invalidate(UINT64_MAX - 10, 100);
    assert_int_equal(run_at(code), 1);
    munmap(code, CODE_BYTES);
}

static void *many_launches(void *arg)
{
    const uint8_t *code = arg;
    for (unsigned i = 0; i < 200; i++) {
        const uint32_t got = run_at(code);
        if (got != 1)
            return (void *)(uintptr_t)1;
        if (i % 16 == 0)
            sg_isa_invalidate((uintptr_t)code, CODE_BYTES);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    uint8_t *code = code_memory();
    place(code + 4000, "write_one");
    pthread_t thread[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, many_launches, code + 4000), 0);
    for (unsigned i = 0; i < 4; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    munmap(code, CODE_BYTES);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewritten),
        cmocka_unit_test(across_pages),
        cmocka_unit_test(invalidated),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
