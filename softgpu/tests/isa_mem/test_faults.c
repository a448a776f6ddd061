// SPDX-License-Identifier: MIT
// Launches that end early: bad addresses, unknown instructions, the stop flag; and that host faults of other
// code still reach whoever had the signal.
#include "softgpu/tests/isa_mem/rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void says(const struct rig *rig, const char *what)
{
    if (!strstr(rig->fault.text, what))
        fail_msg("\"%s\" does not say \"%s\"", rig->fault.text, what);
}

static void unmapped(void **state)
{
    (void)state;
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rig rig;
    rig_begin(&rig, "read_wild", hole, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, (uintptr_t)hole);
    says(&rig, "global_load_dwordx2");
    assert_in_range(rig.fault.pc, rig.launch.entry, rig.launch.entry + rig_kernel_bytes("read_wild"));
    const struct sg_counts total = rig_total(&rig);
    assert_int_equal(total.smem, 2); // what ran before is counted
    assert_int_equal(total.vmem_rd, 1);

    rig_begin(&rig, "write_wild", hole, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, (uintptr_t)hole);
    says(&rig, "global_store_dword");

    rig_begin(&rig, "scalar_wild", hole, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, (uintptr_t)hole);
    says(&rig, "s_load_dword");

    rig_begin(&rig, "jump_wild", hole, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.pc, (uintptr_t)hole);
    says(&rig, "fetch");
    munmap(hole, 4096);

    // The thread goes on as before.
    uint32_t out = 0;
    rig_begin(&rig, "write_one", NULL, &out, NULL);
    rig_run(&rig);
    assert_int_equal(out, 1);
}

static void read_only(void **state)
{
    (void)state;
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rig rig;
    rig_begin(&rig, "write_wild", page, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, (uintptr_t)page);
    munmap(page, 4096);
}

static void not_canonical(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, "read_wild", (void *)(uintptr_t)0x1234567800000040, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, 0x1234567800000040);
    says(&rig, "0x1234567800000040");
}

static void misaligned_atomic(void **state)
{
    (void)state;
    uint32_t out[2];
    struct rig rig;
    rig_begin(&rig, "misaligned_atomic", NULL, out, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, (uintptr_t)out + 2);
}

static void lds_aperture_bounds(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, "flat_lds_too_far", NULL, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_LDS);
    assert_int_equal(rig.fault.address, 0x800);
    says(&rig, "flat_load_dword");
}

static void known_by_name(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, "unimplemented", NULL, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_ILLEGAL);
    assert_int_equal(rig.fault.pc, rig.launch.entry);
    says(&rig, "ds_gws_barrier");
}

static void no_instruction(void **state)
{
    (void)state;
    static const uint32_t words[2] = {0xffffffff, 0xffffffff};
    struct rig rig;
    rig_begin(&rig, "write_one", NULL, NULL, NULL);
    rig.launch.entry = (uintptr_t)words;
    rig_run_fault(&rig, SG_FAULT_ILLEGAL);
    assert_int_equal(rig.fault.pc, (uintptr_t)words);
    says(&rig, "ffffffff");
}

// All memory that checked launches may touch, and their code.
static uint64_t own[2], own_code[2];

static bool owned(void *ctx, uint64_t address, uint64_t bytes, uint64_t range[2], char *why, size_t why_bytes)
{
    (void)ctx;
    snprintf(why, why_bytes, "not yours");
    range[0] = own[0];
    range[1] = own[1];
    if (address >= own_code[0] && address + bytes <= own_code[1])
        return true;
    return address >= own[0] && address + bytes <= own[1];
}

// The kernel arguments and `in` lie in `block`; what is checked is its first `bytes`.
static void checked(const char *kernel, const char *mnemonic, uint64_t last_bytes)
{
    static struct {
        struct rig_args args;
        uint64_t in[2];
    } block;
    struct rig rig;
    rig_begin(&rig, kernel, block.in, NULL, NULL);
    block.args = rig.args;
    rig.launch.kernarg = (uintptr_t)&block.args;
    rig.launch.owned = owned;
    own_code[0] = rig.launch.entry;
    own_code[1] = rig.launch.entry + rig_kernel_bytes(kernel);
    own[0] = (uintptr_t)&block;
    own[1] = (uintptr_t)block.in + last_bytes;
    rig_run(&rig);
    own[1]--;
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, (uintptr_t)block.in);
    says(&rig, "not yours");
    says(&rig, mnemonic);
}

static void checked_accesses(void **state)
{
    (void)state;
    checked("read_wild", "global_load_dwordx2", 8);
    checked("write_wild", "global_store_dword", 4);
    checked("scalar_wild", "s_load_dword", 4);
}

// Code that is nobody's is not executed, though it can be read: at the entry, and behind a jump into another page.
static void checked_fetch(void **state)
{
    (void)state;
    static uint32_t out[1];
    struct rig rig;
    rig_begin(&rig, "write_one", NULL, out, NULL);
    rig.launch.owned = owned;
    own[0] = (uintptr_t)&rig.args;
    own[1] = own[0] + sizeof rig.args;
    own_code[0] = own_code[1] = 0;
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, rig.launch.entry);
    says(&rig, "not yours: instruction fetch in kernel");
    assert_int_equal(out[0], 0);

    static uint32_t code[3072] __attribute__((aligned(4096)));
    code[0] = 0xbf8203ff; // s_branch to code[1024], in the next page
    code[1024] = 0xbf810000;
    rig.launch.entry = own_code[0] = (uintptr_t)code;
    own_code[1] = own_code[0] + 8192;
    rig_run(&rig);
    own_code[1] = own_code[0] + 4096;
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, (uintptr_t)&code[1024]);
}

// LDS ends where the launch says, not at the granule, and an access behind it is an error.
static void checked_lds(void **state)
{
    (void)state;
    static uint32_t out[1024];
    struct rig rig;
    rig_begin(&rig, "barriers", NULL, out, NULL);
    rig.launch.grid[0] = rig.launch.workgroup[0] = 1024;
    rig.launch.group_segment_bytes = 4096;
    own[0] = 0;
    own[1] = UINT64_MAX;
    rig.launch.owned = owned;
    rig.launch.exact_lds = true;
    rig_run(&rig);
    rig.launch.group_segment_bytes = 4092;
    rig_run_fault(&rig, SG_FAULT_LDS);
    assert_int_equal(rig.fault.address, 4092);
    says(&rig, "ds_");
    says(&rig, "of 4092 bytes");
    rig.launch.owned = NULL;
    rig.launch.exact_lds = false;
    rig_run(&rig);
}

static volatile int stop;

static void *stopper(void *arg)
{
    (void)arg;
    usleep(20000);
    stop = 1;
    return NULL;
}

static void stop_flag(void **state)
{
    (void)state;
    pthread_t thread;
    stop = 0;
    struct rig rig;
    rig_begin(&rig, "endless", NULL, NULL, NULL);
    rig.launch.workgroup[0] = rig.launch.grid[0] = 256;
    rig.launch.stop = &stop;
    assert_int_equal(pthread_create(&thread, NULL, stopper, NULL), 0);
    rig_run_fault(&rig, SG_FAULT_STOPPED);
    pthread_join(thread, NULL);
    assert_true(rig_total(&rig).branch > 0);
}

static sigjmp_buf own_env;
static void *volatile own_address;

static void own_handler(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    own_address = info->si_addr;
    siglongjmp(own_env, 1);
}

// A handler that the program installed before, and one that it installs after the first launch.
static void other_faults_pass_on(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO}, before;
    volatile uint8_t *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, &before);
    for (int round = 0; round < 2; round++) {
        uint32_t out;
        struct rig rig;
        rig_begin(&rig, "write_one", NULL, &out, NULL);
        rig_run(&rig);
        own_address = NULL;
        if (sigsetjmp(own_env, 1) == 0)
            *hole = 1;
        assert_ptr_equal(own_address, (void *)hole);
        rig_begin(&rig, "write_wild", (void *)hole, NULL, NULL);
        rig_run_fault(&rig, SG_FAULT_MEMORY);
        sigaction(SIGSEGV, &action, NULL);
    }
    sigaction(SIGSEGV, &before, NULL);
    munmap((void *)hole, 4096);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmapped),
        cmocka_unit_test(read_only),
        cmocka_unit_test(not_canonical),
        cmocka_unit_test(misaligned_atomic),
        cmocka_unit_test(lds_aperture_bounds),
        cmocka_unit_test(known_by_name),
        cmocka_unit_test(no_instruction),
        cmocka_unit_test(checked_accesses),
        cmocka_unit_test(checked_fetch),
        cmocka_unit_test(checked_lds),
        cmocka_unit_test(stop_flag),
        cmocka_unit_test(other_faults_pass_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
