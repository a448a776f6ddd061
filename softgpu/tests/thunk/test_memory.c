// SPDX-License-Identifier: MIT
// The memory table: the range map against a plain list, and the driver interface's memory calls.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/mem/mem.h"
#include "softgpu/mem/range_map.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define N_RANGES 300

// Random ranges, many of them overlapping; every look-up is checked against a scan of the list.
static void range_map_agrees_with_a_scan(void **state)
{
    (void)state;
    static struct {
        uint64_t base, bytes;
        bool in;
    } list[N_RANGES];
    struct sg_range_map map = {0};
    unsigned seed = 4711;
    for (unsigned step = 0; step < 6000; step++) {
        unsigned i = (unsigned)rand_r(&seed) % N_RANGES;
        if (list[i].in) {
            if (rand_r(&seed) % 3 == 0) {
                list[i].bytes = 1 + (uint64_t)rand_r(&seed) % 500;
                assert_int_equal(sg_range_map_resize(&map, list[i].base, &list[i], list[i].bytes), 0);
            } else {
                assert_int_equal(sg_range_map_remove(&map, list[i].base, &list[i]), 0);
                assert_int_equal(sg_range_map_remove(&map, list[i].base, &list[i]), -ENOENT);
                list[i].in = false;
            }
        } else {
            list[i].base = (uint64_t)rand_r(&seed) % 10000;
            list[i].bytes = 1 + (uint64_t)rand_r(&seed) % 500;
            list[i].in = true;
            assert_int_equal(sg_range_map_insert(&map, list[i].base, list[i].bytes, &list[i]), 0);
        }
        uint64_t address = (uint64_t)rand_r(&seed) % 10600;
        uint64_t best = 0;
        bool any = false;
        for (unsigned k = 0; k < N_RANGES; k++) {
            if (list[k].in && list[k].base <= address && address < list[k].base + list[k].bytes) {
                best = !any || list[k].base > best ? list[k].base : best;
                any = true;
            }
        }
        struct sg_range range;
        void *found = sg_range_map_find(&map, address, &range);
        assert_int_equal(found != NULL, any);
        if (any) {
            assert_int_equal(range.base, best);
            assert_true(address < range.end);
        }
    }
    sg_range_map_clear(&map);
}

static void range_map_refuses_empty_and_wrapping_ranges(void **state)
{
    (void)state;
    struct sg_range_map map = {0};
    int item;
    assert_int_equal(sg_range_map_insert(&map, 5, 0, &item), -EINVAL);
    assert_int_equal(sg_range_map_insert(&map, UINT64_MAX - 1, 8, &item), -EINVAL);
    assert_null(sg_range_map_find(&map, 5, NULL));
    assert_null(sg_range_map_at(&map, 5));
}

static int open_driver(void **state)
{
    (void)state;
    return hsaKmtOpenKFD() != HSAKMT_STATUS_SUCCESS;
}

static int close_driver(void **state)
{
    (void)state;
    return hsaKmtCloseKFD() != HSAKMT_STATUS_SUCCESS;
}

static const HsaMemFlags vram = {
    .ui32 = {.NonPaged = 1, .HostAccess = 1, .NoSubstitute = 1, .CoarseGrain = 1}};

static void answers_are_copies(void **state)
{
    (void)state;
    const uint32_t first[] = {4, 5}, second[] = {6};
    struct sg_mem_info info;
    void *p = NULL;
    assert_int_equal(sg_mem_alloc(1, 4096, 0, NULL, &p), 0);
    assert_int_equal(sg_mem_map(p, first, 2), 0);
    assert_int_equal(sg_mem_query(p, &info), 0);
    assert_int_equal(sg_mem_map(p, second, 1), 0);
    assert_int_equal(info.n_mapped, 2);
    assert_memory_equal(info.mapped_nodes, first, sizeof(first));
    assert_int_equal(sg_mem_free(p), 0);
    assert_memory_equal(info.mapped_nodes, first, sizeof(first));
}

static void allocation_is_zeroed_mapped_and_known(void **state)
{
    (void)state;
    void *p = NULL;
    HSAuint64 gpu_address = 0;
    HSAuint32 node = 1;
    uint64_t used = sg_mem_used(1);
    assert_int_equal(hsaKmtAllocMemory(1, 64 << 10, vram, &p), HSAKMT_STATUS_SUCCESS);
    assert_int_equal(sg_mem_used(1), used + (64 << 10));
    for (unsigned i = 0; i < 64 << 10; i += 4096)
        assert_int_equal(((char *)p)[i], 0);
    assert_int_equal(
        hsaKmtMapMemoryToGPUNodes(p, 64 << 10, &gpu_address, (HsaMemMapFlags){.Value = 0}, 1, &node), 0);
    assert_int_equal(gpu_address, (uint64_t)(uintptr_t)p);
    assert_int_equal(hsaKmtSetMemoryUserData(p, &node), 0);

    HsaPointerInfo info;
    assert_int_equal(hsaKmtQueryPointerInfo((char *)p + 5000, &info), HSAKMT_STATUS_SUCCESS);
    assert_int_equal(info.Type, HSA_POINTER_ALLOCATED);
    assert_int_equal(info.Node, 1);
    assert_ptr_equal(info.CPUAddress, p);
    assert_int_equal(info.GPUAddress, (uint64_t)(uintptr_t)p);
    assert_int_equal(info.SizeInBytes, 64 << 10);
    assert_int_equal(info.MemFlags.Value, vram.Value);
    assert_int_equal(info.NMappedNodes, 1);
    assert_int_equal(info.MappedNodes[0], 1);
    assert_ptr_equal(info.UserData, &node);
    assert_int_equal(sg_mem_map(p, (const uint32_t[]){3, 2}, 2), 0); // as another thread may, at any time
    assert_int_equal(info.MappedNodes[0], 1);

    assert_int_equal(hsaKmtUnmapMemoryToGPU(p), 0);
    assert_int_equal(hsaKmtQueryPointerInfo(p, &info), 0);
    assert_int_equal(info.NMappedNodes, 0);
    assert_int_equal(hsaKmtQueryPointerInfo((char *)p + (64 << 10), &info), HSAKMT_STATUS_ERROR);
    assert_int_equal(hsaKmtFreeMemory(p, 64 << 10), 0);
    assert_int_equal(sg_mem_used(1), used);
    assert_int_equal(hsaKmtQueryPointerInfo(p, &info), HSAKMT_STATUS_ERROR);
    assert_int_equal(info.Type, HSA_POINTER_UNKNOWN);
    assert_int_not_equal(hsaKmtFreeMemory(p, 64 << 10), 0);
}

static void bad_allocations_are_refused(void **state)
{
    (void)state;
    void *p = NULL;
    assert_int_equal(hsaKmtAllocMemory(1, 0, vram, &p), HSAKMT_STATUS_INVALID_PARAMETER);
    assert_int_equal(hsaKmtAllocMemory(1, 100, vram, &p), HSAKMT_STATUS_INVALID_PARAMETER);
    assert_int_equal(hsaKmtAllocMemory(1, 4096, vram, NULL), HSAKMT_STATUS_INVALID_PARAMETER);
    assert_int_equal(hsaKmtAllocMemory(9, 4096, vram, &p), HSAKMT_STATUS_INVALID_NODE_UNIT);
    assert_null(p);
}

// A GPU holds what its node says and not a byte more; what is freed can be had again.
static void local_memory_is_finite(void **state)
{
    (void)state;
    HsaMemoryProperties banks[3];
    assert_int_equal(hsaKmtGetNodeMemoryProperties(1, 3, banks), 0);
    uint64_t all = banks[0].SizeInBytes - sg_mem_used(1);
    void *p = NULL, *more = NULL;
    assert_int_equal(hsaKmtAllocMemory(1, all + 4096, vram, &p), HSAKMT_STATUS_NO_MEMORY);
    assert_int_equal(hsaKmtAllocMemory(1, all, vram, &p), 0);
    assert_int_equal(hsaKmtAllocMemory(1, 4096, vram, &more), HSAKMT_STATUS_NO_MEMORY);
    assert_int_equal(hsaKmtFreeMemory(p, all), 0);
    assert_int_equal(hsaKmtAllocMemory(1, 4096, vram, &more), 0);
    assert_int_equal(hsaKmtFreeMemory(more, 4096), 0);
}

// ROCr asks for gigabytes of scratch a GPU; it must cost neither memory nor the GPU's budget.
static void scratch_costs_nothing(void **state)
{
    (void)state;
    void *p = NULL;
    uint64_t used = sg_mem_used(1);
    HsaMemFlags scratch = {.ui32 = {.Scratch = 1, .HostAccess = 1}};
    assert_int_equal(hsaKmtAllocMemory(1, 64ull << 30, scratch, &p), 0);
    assert_int_equal(sg_mem_used(1), used);
    assert_int_equal(hsaKmtFreeMemory(p, 64ull << 30), 0);
}

static void fixed_address_fails_if_taken(void **state)
{
    (void)state;
    void *p = NULL;
    assert_int_equal(hsaKmtAllocMemory(0, 4096, (HsaMemFlags){.Value = 0x40}, &p), 0);
    void *fixed = p;
    HsaMemFlags flags = {.ui32 = {.HostAccess = 1, .FixedAddress = 1}};
    assert_int_equal(hsaKmtAllocMemory(0, 4096, flags, &fixed), HSAKMT_STATUS_NO_MEMORY);
    assert_int_equal(hsaKmtFreeMemory(p, 4096), 0);
    assert_int_equal(hsaKmtAllocMemory(0, 4096, flags, &fixed), 0);
    assert_ptr_equal(fixed, p);
    assert_int_equal(hsaKmtFreeMemory(fixed, 4096), 0);
}

static void registration_is_counted_and_keeps_the_largest_size(void **state)
{
    (void)state;
    static _Alignas(4096) char buffer[4 * 4096];
    HsaPointerInfo info;
    HsaMemFlags flags = {.Value = 0x2040};
    assert_int_equal(hsaKmtRegisterMemoryWithFlags(buffer, 4096, flags), 0);
    assert_int_equal(hsaKmtRegisterMemoryWithFlags(buffer, 3 * 4096, flags), 0);
    assert_int_equal(hsaKmtQueryPointerInfo(buffer + 2 * 4096, &info), 0);
    assert_int_equal(info.Type, HSA_POINTER_REGISTERED_USER);
    assert_int_equal(info.SizeInBytes, 3 * 4096);
    assert_ptr_equal(info.CPUAddress, buffer);
    assert_int_equal(hsaKmtDeregisterMemory(buffer), 0);
    assert_int_equal(hsaKmtQueryPointerInfo(buffer, &info), 0);
    assert_int_equal(hsaKmtDeregisterMemory(buffer), 0);
    assert_int_equal(hsaKmtQueryPointerInfo(buffer, &info), HSAKMT_STATUS_ERROR);
    assert_int_equal(hsaKmtDeregisterMemory(buffer), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
    assert_int_equal(hsaKmtRegisterMemory(NULL, 4096), HSAKMT_STATUS_INVALID_PARAMETER);
}

// What checked accesses ask: ends as the program asked for them, and which memory lies nearest.
static void owned_memory_ends_where_the_program_asked(void **state)
{
    (void)state;
    char why[112];
    uint64_t range[2];
    void *p = NULL;
    sg_mem_set_gap(65536);
    assert_int_equal(sg_mem_alloc(1, 8192, 0, NULL, &p), 0);
    sg_mem_set_gap(0);
    const uint64_t base = (uintptr_t)p;
    assert_true(sg_mem_owns(base + 8188, 4, range, why, sizeof(why)));
    assert_int_equal(range[0], base);
    assert_int_equal(range[1], base + 8192);
    assert_int_equal(sg_mem_set_asked((char *)p + 8, 100), -ENOENT);
    assert_int_equal(sg_mem_set_asked(p, 8193), -EINVAL);
    assert_int_equal(sg_mem_set_asked(p, 0), -EINVAL);
    assert_int_equal(sg_mem_set_asked(p, 5000), 0);
    assert_true(sg_mem_owns(base + 4996, 4, range, why, sizeof(why)));
    assert_int_equal(range[1], base + 5000);
    assert_false(sg_mem_owns(base + 4996, 8, range, why, sizeof(why)));
    assert_non_null(strstr(why, "leaves the end of 5000 bytes"));
    assert_false(sg_mem_owns(base + 5000, 1, range, why, sizeof(why)));
    assert_non_null(strstr(why, ", 0 bytes past the end of the 5000 bytes"));
    assert_false(sg_mem_owns(base + 8192 + 4096, 4, range, why, sizeof(why))); // the gap is nobody's
    assert_non_null(strstr(why, ", 7288 bytes past the end of the 5000 bytes"));

    // Registered memory: the pieces may adjoin.
    static char host[8192] __attribute__((aligned(4096)));
    assert_int_equal(sg_mem_register(host, 4096, 0), 0);
    assert_false(sg_mem_owns((uintptr_t)host + 4094, 4, range, why, sizeof(why)));
    assert_int_equal(sg_mem_register(host + 4096, 4096, 0), 0);
    assert_true(sg_mem_owns((uintptr_t)host + 4094, 4, range, why, sizeof(why)));
    assert_int_equal(sg_mem_deregister(host), 0);
    assert_false(sg_mem_owns((uintptr_t)host + 4092, 4, range, why, sizeof(why)));
    assert_non_null(strstr(why, ", 4 bytes before the 4096 bytes"));
    assert_int_equal(sg_mem_deregister(host + 4096), 0);
    assert_int_equal(sg_mem_free(p), 0);
    assert_false(sg_mem_owns(base, 4, range, why, sizeof(why)));
}

// Where accesses are checked, freed addresses stay nobody's: the next allocation does not get them.
static void checked_addresses_are_not_used_again(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    void *freed[COUNT];
    sg_mem_set_gap(65536);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(sg_mem_alloc(1, 8192, 0, NULL, &freed[i]), 0);
        for (unsigned k = 0; k < i; k++)
            assert_ptr_not_equal(freed[i], freed[k]);
        assert_int_equal(sg_mem_free(freed[i]), 0);
        unsigned char in_core[2];
        assert_int_equal(mincore(freed[i], 8192, in_core), 0); // still taken
    }
    sg_mem_set_gap(0);
}

static void large_memory_begins_at_huge_pages(void **state)
{
    (void)state;
    void *p[4];
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t bytes = (2ull << 20) + i * 4096;
        assert_int_equal(sg_mem_alloc(1, bytes, 0, NULL, &p[i]), 0);
        assert_int_equal((uintptr_t)p[i] % (2 << 20), 0);
        memset(p[i], 1, bytes);
    }
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(sg_mem_free(p[i]), 0);
}

static void nothing_works_when_closed(void **state)
{
    (void)state;
    void *p = NULL;
    HsaPointerInfo info;
    assert_int_equal(hsaKmtAllocMemory(0, 4096, vram, &p), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
    assert_int_equal(hsaKmtQueryPointerInfo(&p, &info), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
}

#define DRIVER_TEST(name) cmocka_unit_test_setup_teardown(name, open_driver, close_driver)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_map_agrees_with_a_scan),
        cmocka_unit_test(range_map_refuses_empty_and_wrapping_ranges),
        cmocka_unit_test(owned_memory_ends_where_the_program_asked),
        cmocka_unit_test(checked_addresses_are_not_used_again),
        cmocka_unit_test(large_memory_begins_at_huge_pages),
        cmocka_unit_test(nothing_works_when_closed),
        cmocka_unit_test(answers_are_copies),
        DRIVER_TEST(allocation_is_zeroed_mapped_and_known),
        DRIVER_TEST(bad_allocations_are_refused),
        DRIVER_TEST(local_memory_is_finite),
        DRIVER_TEST(scratch_costs_nothing),
        DRIVER_TEST(fixed_address_fails_if_taken),
        DRIVER_TEST(registration_is_counted_and_keeps_the_largest_size),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
