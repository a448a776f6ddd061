// SPDX-License-Identifier: MIT
// Runs compiled.cl, linked as a code object, from its kernel descriptor.
#include "softgpu/tests/isa_mem/rig.h"

#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>

#define ITEMS 1000
#define GROUP 256

static uint8_t *image; // the code object as loaded
static const uint8_t *descriptor;

static uint64_t no_clock(void *ctx)
{
    (void)ctx;
    return 0;
}

// Loads the segments and finds the symbol `compiled.kd`.
static void load(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    static uint8_t file[1 << 16] __attribute__((aligned(16)));
    assert_true(fread(file, 1, sizeof file, f) > sizeof(Elf64_Ehdr));
    fclose(f);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(const void *)(file + header->e_phoff);
    const Elf64_Shdr *section = (const Elf64_Shdr *)(const void *)(file + header->e_shoff);
    image = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD)
            memcpy(image + segment[i].p_vaddr, file + segment[i].p_offset, segment[i].p_filesz);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (section[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(file + section[i].sh_offset);
        const char *names = (const char *)file + section[section[i].sh_link].sh_offset;
        for (size_t s = 0; s < section[i].sh_size / sizeof *symbol; s++)
            if (strcmp(names + symbol[s].st_name, "compiled.kd") == 0)
                descriptor = image + symbol[s].st_value;
    }
    assert_non_null(descriptor);
}

static uint32_t field32(unsigned byte)
{
    uint32_t v;
    memcpy(&v, descriptor + byte, 4);
    return v;
}

static void launch_of(struct sg_launch *launch, const void *kernarg, uint32_t private_bytes)
{
    int64_t entry;
    uint16_t properties;
    memcpy(&entry, descriptor + 16, 8);
    memcpy(&properties, descriptor + 56, 2);
    *launch = (struct sg_launch){
        .kernel_name = "compiled",
        .entry = (uintptr_t)descriptor + (uint64_t)entry,
        .rsrc1 = field32(48),
        .rsrc2 = field32(52),
        .rsrc3 = field32(44),
        .properties = properties,
        .grid = {ITEMS, 1, 1},
        .workgroup = {GROUP, 1, 1},
        .group_segment_bytes = GROUP * 4,
        .private_segment_bytes = private_bytes,
        .kernarg = (uintptr_t)kernarg,
        .shared_aperture_hi = SHARED_HI,
        .private_aperture_hi = PRIVATE_HI,
        .clock = no_clock,
    };
}

static uint32_t walk(int n, const uint32_t *p)
{
    uint32_t a[8];
    for (int i = 0; i < 8; i++)
        a[i] = p[(i + n) & 7] + (uint32_t)n;
    return n <= 0 ? a[p[0] & 7] : walk(n - 1, a) + a[n & 7];
}

static uint32_t digest(const uint32_t *p)
{
    uint32_t s = 0;
    for (int i = 0; i < 8; i++)
        s = s * 3 + p[i];
    return s;
}

static uint32_t in[ITEMS + 8], out[ITEMS];

struct arguments {
    const void *in;
    void *out;
    uint32_t shared;
};

static void calls_and_generic_pointers(void **state)
{
    (void)state;
    uint32_t seed = 17;
    for (unsigned i = 0; i < ITEMS + 8; i++)
        in[i] = rig_noise(&seed);
    const struct arguments arguments = {in, out, 0};
    struct sg_launch launch;
    struct sg_counts counts[SG_SHADER_ENGINES] = {0};
    struct sg_fault fault;
    launch_of(&launch, &arguments, 2048);
    if (sg_isa_launch(&launch, counts, &fault) != 0)
        fail_msg("%s", fault.text);
    for (unsigned id = 0; id < ITEMS; id++) {
        uint32_t shared[8];
        for (unsigned i = 0; i < 8; i++)
            shared[i] = in[id / GROUP * GROUP + i + 3];
        const uint32_t want = walk(5, in + id) + digest(id & 1 ? in + id : shared) + in[id + (in[id] & 7)];
        if (out[id] != want)
            fail_msg("item %u is %08x instead of %08x", id, out[id], want);
    }
}

// Six frames do not fit in what one needs.
static void stack_overflow_is_a_fault(void **state)
{
    (void)state;
    const struct arguments arguments = {in, out, 0};
    struct sg_launch launch;
    struct sg_counts counts[SG_SHADER_ENGINES] = {0};
    struct sg_fault fault;
    launch_of(&launch, &arguments, field32(4));
    assert_int_equal(sg_isa_launch(&launch, counts, &fault), -1);
    assert_int_equal(fault.kind, SG_FAULT_MEMORY);
    assert_non_null(strstr(fault.text, "private memory"));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    load(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_generic_pointers),
        cmocka_unit_test(stack_overflow_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
