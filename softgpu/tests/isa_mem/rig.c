// SPDX-License-Identifier: MIT
// See rig.h. The object is a relocatable ELF file without relocations: kernels are its function symbols in
// .text.
#include "softgpu/tests/isa_mem/rig.h"

#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>

static uint8_t *file, *text;
static size_t text_bytes;
static const Elf64_Sym *symbols;
static size_t n_symbols;
static const char *names;
static uint16_t text_section;

static uint64_t test_clock(void *ctx)
{
    (void)ctx;
    return UINT64_C(0x123456789abc);
}

void rig_open(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    const size_t bytes = (size_t)ftell(f);
    rewind(f);
    file = malloc(bytes);
    assert_int_equal(fread(file, 1, bytes, f), bytes);
    fclose(f);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + header->e_shoff);
    const char *section_names = (const char *)file + sections[header->e_shstrndx].sh_offset;
    for (uint16_t i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        if (strcmp(section_names + s->sh_name, ".text") == 0) {
            text_section = i;
            text_bytes = s->sh_size;
            text = mmap(NULL, text_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memcpy(text, file + s->sh_offset, text_bytes);
        } else if (s->sh_type == SHT_SYMTAB) {
            symbols = (const Elf64_Sym *)(const void *)(file + s->sh_offset);
            n_symbols = s->sh_size / sizeof *symbols;
            names = (const char *)file + sections[s->sh_link].sh_offset;
        }
    }
    assert_non_null(text);
    assert_non_null(symbols);
}

static const Elf64_Sym *find(const char *name)
{
    for (size_t i = 0; i < n_symbols; i++)
        if (symbols[i].st_shndx == text_section && strcmp(names + symbols[i].st_name, name) == 0)
            return &symbols[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

uint64_t rig_kernel(const char *name)
{
    return (uintptr_t)text + find(name)->st_value;
}

size_t rig_kernel_bytes(const char *name)
{
    const uint64_t start = find(name)->st_value;
    uint64_t end = text_bytes;
    for (size_t i = 0; i < n_symbols; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_value > start &&
            symbols[i].st_value < end)
            end = symbols[i].st_value;
    return end - start;
}

void rig_begin(struct rig *rig, const char *kernel, const void *in, void *out, void *extra)
{
    *rig = (struct rig){
        .launch =
            {
                .kernel_name = kernel,
                .entry = rig_kernel(kernel),
                .rsrc1 =
                    4 | 0xc0u << 12 | 1u << 21 | 1u << 23, // 40 registers, denormals kept for f64 and f16
                .rsrc2 = 2u << 1 | 1u << 7,                // two user SGPRs, work-group id x
                .rsrc3 = 7,                                // AGPRs from register 32 on
                .properties = 0x8,
                .grid = {LANES, 1, 1},
                .workgroup = {LANES, 1, 1},
                .group_segment_bytes = 2048,
                .shared_aperture_hi = SHARED_HI,
                .private_aperture_hi = PRIVATE_HI,
                .clock = test_clock,
            },
        .args = {.in = in, .out = out, .extra = extra},
    };
    rig->launch.kernarg = (uintptr_t)&rig->args;
}

void rig_begin_private(struct rig *rig, const char *kernel, const void *in, void *out, void *extra)
{
    rig_begin(rig, kernel, in, out, extra);
    rig->launch.rsrc2 = 8u << 1 | 1u << 7 | 1;
    rig->launch.properties = 0x1 | 0x8 | 0x20;
    rig->launch.private_segment_bytes = 112;
}

void rig_run(struct rig *rig)
{
    if (sg_isa_launch(&rig->launch, rig->counts, &rig->fault) != 0)
        fail_msg("%s", rig->fault.text);
}

void rig_run_fault(struct rig *rig, enum sg_fault_kind kind)
{
    assert_int_equal(sg_isa_launch(&rig->launch, rig->counts, &rig->fault), -1);
    if (rig->fault.kind != kind)
        fail_msg("fault %d instead of %d: %s", rig->fault.kind, kind, rig->fault.text);
    if (!strstr(rig->fault.text, rig->launch.kernel_name))
        fail_msg("the kernel is not named: %s", rig->fault.text);
}

struct sg_counts rig_total(const struct rig *rig)
{
    struct sg_counts total = {0};
    uint64_t *sum = (uint64_t *)&total;
    for (unsigned se = 0; se < SG_SHADER_ENGINES; se++)
        for (size_t i = 0; i < sizeof total / sizeof *sum; i++)
            sum[i] += ((const uint64_t *)&rig->counts[se])[i];
    return total;
}

uint32_t rig_noise(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}
