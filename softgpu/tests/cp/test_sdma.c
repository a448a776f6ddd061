// SPDX-License-Identifier: MIT
// Copy engines: packets in the layout that ROCr writes, ring, doorbell, faults, suspend.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/cp/sdma.h"
#include "softgpu/mem/mem.h"
#include "softgpu/tests/cp/rig.h"

#include <string.h>
#include <time.h>

#define RING_DWORDS 64u
#define BYTES       8192u

struct engine {
    struct sg_gpu gpu;
    uint32_t ring[RING_DWORDS];
    unsigned char *memory; // what the GPU knows: BYTES
    struct sg_sdma *queue;
    uint64_t written;
};

static int setup(void **state)
{
    static struct engine e;
    memset(&e, 0, sizeof(e));
    e.gpu.node_id = 1;
    if (sg_mem_alloc(1, BYTES, 0, NULL, (void **)&e.memory) ||
        sg_sdma_create(&e.gpu, e.ring, sizeof(e.ring), &e.queue))
        return -1;
    *state = &e;
    return 0;
}

static int teardown(void **state)
{
    struct engine *e = *state;
    sg_sdma_destroy(e->queue);
    return sg_mem_free(e->memory);
}

static void put(struct engine *e, const uint32_t *dwords, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        e->ring[(e->written / 4 + i) % RING_DWORDS] = dwords[i];
    e->written += count * sizeof(uint32_t);
}

static void ring(struct engine *e)
{
    __atomic_store_n(sg_sdma_doorbell(e->queue), e->written, __ATOMIC_RELEASE);
}

static int reached(struct engine *e, uint64_t index)
{
    for (unsigned i = 0; i < 60000; i++) {
        if (__atomic_load_n(sg_sdma_read_index(e->queue), __ATOMIC_ACQUIRE) == index)
            return 1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return 0;
}

static uint32_t low(const void *p)
{
    return (uint32_t)(uintptr_t)p;
}

static uint32_t high(const void *p)
{
    return (uint32_t)((uintptr_t)p >> 32);
}

static void put_copy(struct engine *e, void *to, const void *from, uint32_t bytes)
{
    put(e, (uint32_t[]){1, bytes - 1, 0, low(from), high(from), low(to), high(to)}, 7);
}

static void put_decrement(struct engine *e, amd_signal_t *signal)
{
    const void *p = (const void *)&signal->value;
    put(e, (uint32_t[]){10 | 47u << 25, low(p), high(p), UINT32_MAX, UINT32_MAX, 0, 0, 0}, 8);
}

// More than the ring holds; a packet of 7 dwords and one of 8 meet its end in all ways.
static void copies_around_the_ring_and_counts_down(void **state)
{
    struct engine *e = *state;
    amd_signal_t *done = (amd_signal_t *)(void *)(e->memory + BYTES - 64);
    done->value = 100;
    for (unsigned i = 0; i < BYTES / 2; i++)
        e->memory[i] = (unsigned char)(i * 3);
    for (unsigned i = 0; i < 100; i++) {
        put_copy(e, e->memory + BYTES / 2 + 40 * i, e->memory + 40 * i, 40);
        put_decrement(e, done);
        ring(e);
        assert_true(reached(e, e->written));
        assert_int_equal(done->value, 99 - i);
    }
    assert_memory_equal(e->memory, e->memory + BYTES / 2, 4000);
    assert_int_equal(e->memory[BYTES / 2 + 4000], 0);
}

// A box of 3 x 2 x 2 elements of 4 bytes out of rows of 5 and slices of 20, into rows of 4 and slices of 8.
static void copies_a_box(void **state)
{
    struct engine *e = *state;
    uint32_t *from = (uint32_t *)(void *)e->memory, *to = from + 1024;
    for (uint32_t i = 0; i < 60; i++)
        from[i] = i;
    put(e,
        (uint32_t[]){1 | 4 << 8 | 2u << 29, low(from), high(from), 1 | 1 << 16, 1 | (5 - 1) << 13, 20 - 1,
                     low(to), high(to), 0, (4 - 1) << 13, 8 - 1, 2 | 1 << 16, 1},
        13);
    ring(e);
    assert_true(reached(e, e->written));
    for (uint32_t z = 0; z < 2; z++)
        for (uint32_t y = 0; y < 2; y++) {
            for (uint32_t x = 0; x < 3; x++)
                assert_int_equal(to[x + 4 * y + 8 * z], (1 + x) + 5 * (1 + y) + 20 * (1 + z));
            assert_int_equal(to[3 + 4 * y + 8 * z], 0);
        }
}

static void waits_for_a_word_then_fences_and_stamps(void **state)
{
    struct engine *e = *state;
    uint32_t *words = (uint32_t *)(void *)e->memory;
    const uint32_t poll = 8 | 3u << 28 | 1u << 31;
    words[0] = 7;
    put(e, (uint32_t[]){poll, low(words), high(words), 0, UINT32_MAX, 0}, 6);
    put(e, (uint32_t[]){13 | 2 << 8, low(words + 8), high(words + 8)}, 3);
    put(e, (uint32_t[]){5, low(words + 2), high(words + 2), 2015}, 4);
    put(e, (uint32_t[]){0, 2 << 16, 0xffffffff, 0xffffffff}, 4); // NOP, and one that covers two more dwords
    ring(e);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    assert_int_equal(words[2], 0);
    __atomic_store_n(&words[0], 0, __ATOMIC_RELEASE);
    assert_true(reached(e, e->written));
    assert_int_equal(words[2], 2015);
    assert_int_not_equal(words[8], 0);
}

// As HIP pins a large buffer: in pieces, the second begins in the last page of the first.
static void copies_out_of_overlapping_registrations(void **state)
{
    struct engine *e = *state;
    static _Alignas(4096) unsigned char host[3 * 4096];
    memset(host, 9, sizeof(host));
    assert_int_equal(sg_mem_register(host, 2 * 4096, 0), 0);
    assert_int_equal(sg_mem_register(host + 4096, 2 * 4096, 0), 0);
    put_copy(e, e->memory, host + 4096 + 100, 8000);
    ring(e);
    assert_true(reached(e, e->written));
    assert_int_equal(e->memory[7999], 9);
    assert_int_equal(sg_mem_deregister(host), 0);
    assert_int_equal(sg_mem_deregister(host + 4096), 0);
}

static void stops_at_memory_that_the_gpu_does_not_know(void **state)
{
    struct engine *e = *state;
    put_copy(e, e->memory, e->memory + BYTES - 8, 16); // reads past the end
    put(e, (uint32_t[]){5, low(e->memory), high(e->memory), 1}, 4);
    ring(e);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(*sg_sdma_read_index(e->queue), 0);
    assert_int_equal(e->memory[0], 0);
}

// Whatever a packet reads or writes: nothing is touched and the engine stands still.
static void stops_at_wild_addresses(void **state)
{
    struct engine *e = *state;
    const uint32_t wild[][8] = {
        {1, 63, 0, 0xfffffff0, UINT32_MAX, low(e->memory), high(e->memory)}, // the end wraps around
        {1, 63, 0, low(e->memory), high(e->memory), 0x1000, 0},
        {5, 0x1000, 0, 1},
        {8 | 3u << 28 | 1u << 31, 0x1000, 0, 0, UINT32_MAX, 0},
        {10 | 47u << 25, 0xfffffffc, UINT32_MAX, 1, 0, 0, 0, 0},
        {13 | 2 << 8, low(e->memory + BYTES - 4), high(e->memory)}, // half of the word is outside
    };
    const unsigned dwords[] = {7, 7, 4, 6, 8, 3};
    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        stub_fault_address = 0;
        put(e, wild[i], dwords[i]);
        ring(e);
        for (unsigned ms = 0; ms < 60000 && !stub_fault_address; ms++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        assert_int_not_equal(stub_fault_address, 0);
        assert_int_equal(*sg_sdma_read_index(e->queue), 0);
        sg_sdma_destroy(e->queue);
        e->written = 0;
        assert_int_equal(sg_sdma_create(&e->gpu, e->ring, sizeof(e->ring), &e->queue), 0);
    }
}

// With checks: memory of another GPU that was not mapped, and bytes past what was asked for.
static void checked_engines_stop_at_what_is_not_theirs(void **state)
{
    struct engine *e = *state;
    unsigned char *other;
    const uint32_t nodes[] = {1};
    assert_int_equal(sg_mem_alloc(2, BYTES, 0, NULL, (void **)&other), 0);
    assert_int_equal(sg_mem_map(e->memory, nodes, 1), 0);
    e->memory[0] = 7;
    put_copy(e, other, e->memory, 64); // unchecked
    ring(e);
    assert_true(reached(e, e->written));
    e->gpu.checks_mapping = true;
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t stays = e->written;
        stub_fault_address = 0;
        put_copy(e, i ? e->memory + 1000 : other + 64, e->memory, 64);
        ring(e);
        for (unsigned ms = 0; ms < 60000 && !stub_fault_address; ms++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        assert_int_equal(stub_fault_address, (uintptr_t)(i ? e->memory + 1000 : other + 64));
        assert_int_equal(*sg_sdma_read_index(e->queue), stays);
        assert_int_equal(other[64], 0);
        sg_sdma_destroy(e->queue);
        e->written = 0;
        e->gpu.checks_access = true;
        assert_int_equal(sg_mem_set_asked(e->memory, 1010), 0);
        assert_int_equal(sg_sdma_create(&e->gpu, e->ring, sizeof(e->ring), &e->queue), 0);
    }
    put_copy(e, e->memory + 900, e->memory, 110);
    ring(e);
    assert_true(reached(e, e->written));
    assert_int_equal(e->memory[900], 7);
    assert_int_equal(sg_mem_free(other), 0);
}

static void stops_at_what_is_no_packet(void **state)
{
    struct engine *e = *state;
    put(e, (uint32_t[]){0x77, 0, 0, 0}, 4);
    ring(e);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(*sg_sdma_read_index(e->queue), 0);
}

// A copy of which the last dword was not rung for does nothing.
static void stops_at_a_packet_cut_off(void **state)
{
    struct engine *e = *state;
    e->memory[0] = 5;
    put_copy(e, e->memory + 64, e->memory, 1);
    __atomic_store_n(sg_sdma_doorbell(e->queue), e->written - sizeof(uint32_t), __ATOMIC_RELEASE);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(*sg_sdma_read_index(e->queue), 0);
    assert_int_equal(e->memory[64], 0);
}

static void takes_nothing_while_suspended(void **state)
{
    struct engine *e = *state;
    sg_sdma_suspend(e->queue);
    e->memory[0] = 5;
    put_copy(e, e->memory + 64, e->memory, 1);
    ring(e);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    assert_int_equal(e->memory[64], 0);
    sg_sdma_resume(e->queue);
    assert_true(reached(e, e->written));
    assert_int_equal(e->memory[64], 5);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(copies_around_the_ring_and_counts_down),
        CASE(copies_a_box),
        CASE(copies_out_of_overlapping_registrations),
        CASE(waits_for_a_word_then_fences_and_stamps),
        CASE(stops_at_memory_that_the_gpu_does_not_know),
        CASE(stops_at_wild_addresses),
        CASE(checked_engines_stop_at_what_is_not_theirs),
        CASE(stops_at_what_is_no_packet),
        CASE(stops_at_a_packet_cut_off),
        CASE(takes_nothing_while_suspended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
