// SPDX-License-Identifier: MIT
// What packets carry and what goes wrong with them: launch arguments, kernel names, PM4, error codes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/cp/aql.h"
#include "softgpu/mem/mem.h"
#include "softgpu/tests/cp/rig.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct captured {
    struct sg_launch launch;
    char name[SG_KERNEL_NAME_BYTES];
};

static enum sg_fault_kind capture(struct stub_kernel *self, const struct sg_launch *launch)
{
    struct captured *captured = self->arg;
    captured->launch = *launch;
    strncpy(captured->name, launch->kernel_name, sizeof(captured->name) - 1);
    return SG_FAULT_NONE;
}

static void run_captured(struct rig *rig, hsa_kernel_dispatch_packet_t packet, struct captured *captured)
{
    struct stub_kernel kernel = {.run = capture, .arg = captured};
    amd_signal_t done = {.value = 1};
    packet.kernarg_address = &kernel;
    packet.completion_signal = rig_handle(&done);
    rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    assert_true(rig_wait_signal(&done, 0));
}

static void launch_has_what_packet_and_descriptor_say(void **state)
{
    struct rig *rig = *state;
    const int64_t entry_offset = 256;
    const uint32_t rsrc[3] = {0x11, 0x22, 0x33};
    const uint16_t properties = 0x4b;
    memcpy(rig->kernels + 16, &entry_offset, 8);
    memcpy(rig->kernels + 48, &rsrc[0], 4);
    memcpy(rig->kernels + 52, &rsrc[1], 4);
    memcpy(rig->kernels + 44, &rsrc[2], 4);
    memcpy(rig->kernels + 56, &properties, 2);

    struct captured got = {0};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.setup = 2;
    packet.workgroup_size_x = 8;
    packet.workgroup_size_y = 4;
    packet.workgroup_size_z = 77; // beyond the dimensions: ignored
    packet.grid_size_x = 100;
    packet.grid_size_y = 7;
    packet.group_segment_size = 512;
    packet.private_segment_size = 96;
    run_captured(rig, packet, &got);
    assert_int_equal(got.launch.entry, (uint64_t)(uintptr_t)rig->kernels + 256);
    assert_int_equal(got.launch.rsrc1, 0x11);
    assert_int_equal(got.launch.rsrc2, 0x22);
    assert_int_equal(got.launch.rsrc3, 0x33);
    assert_int_equal(got.launch.properties, 0x4b);
    assert_int_equal(got.launch.grid[0], 100);
    assert_int_equal(got.launch.grid[1], 7);
    assert_int_equal(got.launch.grid[2], 1);
    assert_int_equal(got.launch.workgroup[0], 8);
    assert_int_equal(got.launch.workgroup[1], 4);
    assert_int_equal(got.launch.workgroup[2], 1);
    assert_int_equal(got.launch.group_segment_bytes, 512);
    assert_int_equal(got.launch.private_segment_bytes, 96);
    assert_int_equal(got.launch.dispatch_packet, (uint64_t)(uintptr_t)rig->ring);
    assert_int_equal(got.launch.queue, (uint64_t)(uintptr_t)&rig->amd);
    assert_int_equal(got.launch.dispatch_id, 0);
    assert_non_null(got.launch.clock);
    assert_true(got.launch.clock(got.launch.ctx) > 0);
    got.launch.interrupt(got.launch.ctx, 5);
    assert_int_equal(stub_last_event, 5);
    assert_non_null(strstr(got.name, "unnamed")); // no ELF file there
}

// A code object as ROCr loads it: header, dynamic section, symbols, and the descriptor on a later page.
static void put_code_object(unsigned char *base, uint64_t descriptor, const char *name)
{
    Elf64_Ehdr header = {.e_machine = 224, .e_phoff = 64, .e_phnum = 1};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    Elf64_Phdr dynamic = {.p_type = PT_DYNAMIC, .p_vaddr = 256, .p_memsz = 6 * sizeof(Elf64_Dyn)};
    Elf64_Dyn entries[6] = {
        {.d_tag = DT_SYMTAB, .d_un.d_ptr = 512},
        {.d_tag = DT_STRTAB, .d_un.d_ptr = 768},
        {.d_tag = DT_STRSZ, .d_un.d_val = 128},
        {.d_tag = DT_HASH, .d_un.d_ptr = 1024},
        {.d_tag = DT_NULL},
    };
    Elf64_Word hash[2] = {1, 2};
    Elf64_Sym symbols[2] = {{0}, {.st_name = 1, .st_shndx = 1, .st_value = descriptor}};
    memcpy(base, &header, sizeof(header));
    memcpy(base + 64, &dynamic, sizeof(dynamic));
    memcpy(base + 256, entries, sizeof(entries));
    memcpy(base + 512, symbols, sizeof(symbols));
    strcpy((char *)base + 769, name);
    memcpy(base + 1024, hash, sizeof(hash));
}

static void kernel_name_comes_from_the_loaded_symbols(void **state)
{
    struct rig *rig = *state;
    void *memory = NULL;
    assert_int_equal(sg_mem_alloc(1, 8 * 4096, 0, NULL, &memory), 0);
    unsigned char *base =
        (unsigned char *)memory + 4096; // not at the start of its allocation, as in a 2 MiB block
    put_code_object(base, 3 * 4096 + 64, "_Z5saxpyfPKfPfi.kd");

    struct captured got = {0};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.kernel_object = (uint64_t)(uintptr_t)base + 3 * 4096 + 64;
    run_captured(rig, packet, &got);
    assert_string_equal(got.name, "_Z5saxpyfPKfPfi");

    // Another code object at the same place: the name is cached until an ACQUIRE_MEM says that code was
    // loaded.
    put_code_object(base, 3 * 4096 + 64, "other.kd");
    uint32_t acquire[7] = {0xc0055800};
    uint32_t ib[16] = {0x00010000, 0xc0023f00, (uint32_t)(uintptr_t)acquire,
                       (uint32_t)((uintptr_t)acquire >> 32), 7};
    unsigned invalidations = stub_invalidations;
    uint64_t index = rig_submit(rig, ib, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    assert_true(rig_wait_read(rig, index + 1));
    assert_int_equal(stub_invalidations, invalidations + 1);
    run_captured(rig, packet, &got);
    assert_string_equal(got.name, "other");
    sg_mem_free(memory);
}

static void damaged_symbols_do_no_harm(void **state)
{
    struct rig *rig = *state;
    void *memory = NULL;
    assert_int_equal(sg_mem_alloc(1, 4 * 4096, 0, NULL, &memory), 0);
    unsigned char *base = memory;
    const uint64_t wild = ~0ull / 2;
    // Each offset holds a field that the look-up trusts only after checking it.
    const size_t offsets[] = {32, 64 + 16, 256 + 8, 256 + 24, 256 + 40, 256 + 56};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        put_code_object(base, 4096 + 64 * i, "k.kd");
        memcpy(base + offsets[i], &wild, sizeof(wild));
        struct captured got = {0};
        hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
        packet.kernel_object = (uint64_t)(uintptr_t)base + 4096 + 64 * i;
        run_captured(rig, packet, &got);
        assert_int_equal(got.launch.dispatch_id, i);
    }
    sg_mem_free(memory);
}

// Runs one packet that must fail, and checks how it was told.
static void expect_error(struct rig *rig, const void *packet, uint16_t type, uint32_t code)
{
    amd_signal_t done = {.value = 1};
    uint64_t index = rig_submit(rig, packet, type);
    hsa_barrier_and_packet_t later = {.completion_signal = rig_handle(&done)};
    rig_submit(rig, &later, HSA_PACKET_TYPE_BARRIER_AND);
    assert_true(rig_wait_signal(&rig->inactive, (int64_t)(uint64_t)code));
    while (!stub_events_raised)
        continue;
    assert_int_equal(stub_last_event, 99);
    assert_int_equal(rig->amd.read_dispatch_id, index);
    assert_int_equal(rig->ring[index % RING_PACKETS * 64], type);
    sg_queue_resume(rig->queue); // does not revive a failed queue
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    assert_int_equal(stub_events_raised, 1); // nor is the packet tried again
    assert_int_equal(done.value, 1);
}

static enum sg_fault_kind fault(struct stub_kernel *self, const struct sg_launch *launch)
{
    (void)launch;
    return *(const enum sg_fault_kind *)self->arg;
}

static void expect_fault_code(struct rig *rig, enum sg_fault_kind kind, uint32_t code)
{
    struct stub_kernel kernel = {.run = fault, .arg = &kind};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, NULL);
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, code);
}

static void illegal_instruction(void **state)
{
    expect_fault_code(*state, SG_FAULT_ILLEGAL, 0x40000000);
}

static void trap(void **state)
{
    expect_fault_code(*state, SG_FAULT_TRAP, 0x80000000);
}

static void lds_out_of_bounds(void **state)
{
    expect_fault_code(*state, SG_FAULT_LDS, 0x20000000);
}

static void memory_fault_without_event(void **state)
{
    stub_has_memory_event = 0;
    expect_fault_code(*state, SG_FAULT_MEMORY, 0x20000000);
}

static void memory_fault_raises_the_memory_event(void **state)
{
    struct rig *rig = *state;
    enum sg_fault_kind kind = SG_FAULT_MEMORY;
    struct stub_kernel kernel = {.run = fault, .arg = &kind};
    stub_fault_address = 0;
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, NULL);
    rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    while (!stub_fault_address)
        continue;
    assert_int_equal(stub_fault_address, 0xdead000);
    assert_int_equal(rig->inactive.value, 0);
    assert_int_equal(rig->amd.read_dispatch_id, 0);
}

static void no_dimensions(void **state)
{
    struct rig *rig = *state;
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.setup = 0;
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0x2);
}

static void empty_grid(void **state)
{
    struct rig *rig = *state;
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.grid_size_x = 0;
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0x2);
}

static void group_too_large(void **state)
{
    struct rig *rig = *state;
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.setup = 2;
    packet.workgroup_size_y = 17;
    packet.grid_size_y = 17;
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0x40);
}

static void too_much_lds(void **state)
{
    struct rig *rig = *state;
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.group_segment_size = 65537;
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0x4);
}

static void unknown_kernel_object(void **state)
{
    struct rig *rig = *state;
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.kernel_object = 0x1000;
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0x8);
}

// A kernel that ran before: its name is known, its memory is gone.
static void freed_kernel_object(void **state)
{
    struct rig *rig = *state;
    struct captured got = {0};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    void *memory = NULL;
    assert_int_equal(sg_mem_alloc(1, 4096, 0, NULL, &memory), 0);
    packet.kernel_object = (uint64_t)(uintptr_t)memory;
    run_captured(rig, packet, &got);
    assert_int_equal(sg_mem_free(memory), 0);
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0x8);
}

static void unknown_packet_type(void **state)
{
    const uint32_t packet[16] = {0};
    expect_error(*state, packet, HSA_PACKET_TYPE_AGENT_DISPATCH, 0x20);
}

static void unknown_vendor_packet(void **state)
{
    const uint32_t packet[16] = {0x00070000};
    expect_error(*state, packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 0x20);
}

static void malformed_pm4(void **state)
{
    static const uint32_t code[2] = {0xc0ff7900, 0}; // says 257 dwords, has 2
    const uint32_t packet[16] = {0x00010000, 0xc0023f00, (uint32_t)(uintptr_t)code,
                                 (uint32_t)((uintptr_t)code >> 32), 2};
    expect_error(*state, packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 0x20);
}

static void wild_completion_signal(void **state)
{
    struct rig *rig = *state;
    // A page of its own: a fixed address may be memory of a sanitizer.
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(hole, MAP_FAILED);
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, NULL, NULL);
    packet.completion_signal.handle = (uintptr_t)hole;
    expect_error(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0x20);
    munmap(hole, 4096);
}

static void misaligned_dependency(void **state)
{
    amd_signal_t signal[2] = {{.value = 0}};
    const hsa_barrier_and_packet_t packet = {.dep_signal[4].handle = rig_handle(signal).handle + 8};
    expect_error(*state, &packet, HSA_PACKET_TYPE_BARRIER_AND, 0x20);
}

static void wild_dependency(void **state)
{
    const hsa_barrier_or_packet_t packet = {.dep_signal[0].handle = 0x8000000000000000};
    expect_error(*state, &packet, HSA_PACKET_TYPE_BARRIER_OR, 0x20);
}

static void wild_watched_signal(void **state)
{
    const hsa_amd_barrier_value_packet_t packet = {.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE,
                                                   .signal.handle = 64};
    expect_error(*state, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 0x20);
}

static void wild_mailbox(void **state)
{
    amd_signal_t done = {.value = 1, .event_mailbox_ptr = 0x1000};
    const hsa_barrier_and_packet_t packet = {.completion_signal = rig_handle(&done)};
    expect_error(*state, &packet, HSA_PACKET_TYPE_BARRIER_AND, 0x20);
}

static void pm4_at_a_wild_address(void **state)
{
    const uint32_t packet[16] = {0x00010000, 0xc0023f00, 0x1000, 0x4000, 16};
    expect_error(*state, packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 0x20);
}

#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(launch_has_what_packet_and_descriptor_say),
        RIG_TEST(kernel_name_comes_from_the_loaded_symbols),
        RIG_TEST(damaged_symbols_do_no_harm),
        RIG_TEST(illegal_instruction),
        RIG_TEST(trap),
        RIG_TEST(lds_out_of_bounds),
        RIG_TEST(memory_fault_without_event),
        RIG_TEST(memory_fault_raises_the_memory_event),
        RIG_TEST(no_dimensions),
        RIG_TEST(empty_grid),
        RIG_TEST(group_too_large),
        RIG_TEST(too_much_lds),
        RIG_TEST(unknown_kernel_object),
        RIG_TEST(freed_kernel_object),
        RIG_TEST(unknown_packet_type),
        RIG_TEST(unknown_vendor_packet),
        RIG_TEST(malformed_pm4),
        RIG_TEST(wild_completion_signal),
        RIG_TEST(misaligned_dependency),
        RIG_TEST(wild_dependency),
        RIG_TEST(wild_watched_signal),
        RIG_TEST(wild_mailbox),
        RIG_TEST(pm4_at_a_wild_address),
    };
    return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
