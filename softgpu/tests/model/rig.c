// SPDX-License-Identifier: MIT
// See rig.h.
#include "softgpu/tests/model/rig.h"

#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>

#define FILE_BYTES  (1u << 18)
#define IMAGE_BYTES (1u << 20)

static uint8_t file[FILE_BYTES] __attribute__((aligned(16)));
static uint8_t *image;

static uint64_t no_clock(void *ctx)
{
    (void)ctx;
    return 0;
}

void *rig_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

void rig_open(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t bytes = fread(file, 1, FILE_BYTES, f);
    fclose(f);
    assert_true(bytes > sizeof(Elf64_Ehdr) && bytes < FILE_BYTES);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(const void *)(file + header->e_phoff);
    image = rig_memory(IMAGE_BYTES);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD)
            memcpy(image + segment[i].p_vaddr, file + segment[i].p_offset, segment[i].p_filesz);
}

static const uint8_t *descriptor_of(const char *kernel)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(const void *)(file + header->e_shoff);
    char want[64];
    snprintf(want, sizeof want, "%s.kd", kernel);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (section[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(file + section[i].sh_offset);
        const char *names = (const char *)file + section[section[i].sh_link].sh_offset;
        for (size_t s = 0; s < section[i].sh_size / sizeof *symbol; s++)
            if (strcmp(names + symbol[s].st_name, want) == 0)
                return image + symbol[s].st_value;
    }
    fail_msg("no kernel %s", kernel);
    return NULL;
}

static uint32_t field32(const uint8_t *descriptor, unsigned byte)
{
    uint32_t v;
    memcpy(&v, descriptor + byte, sizeof v);
    return v;
}

static struct sg_launch launch_of(const struct rig *rig, const char *kernel)
{
    const uint8_t *d = descriptor_of(kernel);
    struct sg_launch launch = {
        .kernel_name = kernel,
        .entry = (uintptr_t)d + field32(d, 16) + ((uint64_t)field32(d, 20) << 32),
        .rsrc1 = field32(d, 48),
        .rsrc2 = field32(d, 52),
        .rsrc3 = field32(d, 44),
        .properties = (uint16_t)field32(d, 56),
        .group_segment_bytes = field32(d, 0) + rig->more_lds,
        .private_segment_bytes = field32(d, 4),
        .kernarg = (uintptr_t)rig->kernarg,
        .shared_aperture_hi = 0x10000,
        .private_aperture_hi = 0x20000,
        .clock = no_clock,
        .threads = rig->threads,
    };
    memcpy(launch.grid, rig->grid, sizeof launch.grid);
    memcpy(launch.workgroup, rig->group, sizeof launch.workgroup);
    return launch;
}

static void run(struct rig *rig, struct sg_launch *launch)
{
    struct sg_fault fault;
    memset(rig->counts, 0, sizeof rig->counts);
    if (sg_isa_launch(launch, rig->counts, &fault) != 0)
        fail_msg("%s", fault.text);
}

void rig_run(struct rig *rig, const char *kernel)
{
    static struct sg_model *model; // one for all, as a queue has one
    struct sg_launch launch = launch_of(rig, kernel);
    if (!model)
        model = sg_model_create();
    assert_non_null(model);
    sg_model_begin(model, &launch);
    run(rig, &launch);
    assert_true(sg_model_end(model, &rig->detail));
}

void rig_run_unwatched(struct rig *rig, const char *kernel)
{
    struct sg_launch launch = launch_of(rig, kernel);
    run(rig, &launch);
}

// All members of the records are uint64_t.
static void add_up(uint64_t *sum, const void *part, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *sum; i++)
        sum[i] += ((const uint64_t *)part)[i];
}

struct sg_cu_detail rig_cus(const struct rig *rig)
{
    struct sg_cu_detail sum = {0};
    for (unsigned i = 0; i < SG_SHADER_ENGINES; i++)
        add_up((uint64_t *)(void *)&sum, &rig->detail.cu[i], sizeof sum);
    return sum;
}

struct sg_channel_detail rig_channels(const struct rig *rig)
{
    struct sg_channel_detail sum = {0};
    for (unsigned i = 0; i < SG_L2_CHANNELS; i++)
        add_up((uint64_t *)(void *)&sum, &rig->detail.channel[i], sizeof sum);
    return sum;
}

void rig_copy(struct rig *rig, unsigned stride)
{
    const size_t bytes = (size_t)RIG_COPY_ITEMS * stride * sizeof(float);
    const struct {
        const void *in;
        void *out;
        uint32_t stride;
    } args = {rig_memory(bytes), rig_memory(bytes), stride};
    *rig = (struct rig){
        .grid = {RIG_COPY_ITEMS, 1, 1}, .group = {256, 1, 1}, .threads = rig->threads, .kernarg = &args};
    rig_run(rig, "copy");
}

void rig_product(struct rig *rig, const char *kernel, int n)
{
    const size_t bytes = (size_t)n * (size_t)n * sizeof(float);
    float *a = rig_memory(bytes), *b = rig_memory(bytes), *c = rig_memory(bytes);
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
    }
    const struct {
        const void *a, *b;
        void *c;
        int n;
    } args = {a, b, c, n};
    *rig = (struct rig){.grid = {(uint32_t)n, (uint32_t)n, 1},
                        .group = {16, 16, 1},
                        .threads = rig->threads,
                        .kernarg = &args};
    rig_run(rig, kernel);
    float want = 0;
    for (int k = 0; k < n; k++)
        want += a[k] * b[k * n];
    assert_true(c[0] == want);
}

void rig_banks(struct rig *rig, int stride)
{
    const struct {
        void *out;
        int stride, times;
    } args = {rig_memory(8 * 64 * sizeof(uint32_t)), stride, 256};
    *rig =
        (struct rig){.grid = {8 * 64, 1, 1}, .group = {64, 1, 1}, .threads = rig->threads, .kernarg = &args};
    rig_run(rig, "banks");
}

void rig_chase(struct rig *rig, uint32_t more_lds)
{
    enum { WORDS = 1 << 16, GROUPS = 64 };
    uint32_t *next = rig_memory(WORDS * sizeof *next);
    for (uint32_t i = 0; i < WORDS; i++)
        next[i] = (i + 4099) % WORDS;
    const struct {
        const void *next;
        void *out;
        int steps;
    } args = {next, rig_memory(GROUPS * 64 * sizeof(uint32_t)), 100};
    *rig = (struct rig){.grid = {GROUPS * 64, 1, 1},
                        .group = {64, 1, 1},
                        .more_lds = more_lds,
                        .threads = rig->threads,
                        .kernarg = &args};
    rig_run(rig, "chase");
}

void rig_matrix(struct rig *rig)
{
    const struct {
        void *out;
        float a, b;
    } args = {rig_memory(4096), 2, 3};
    *rig = (struct rig){.grid = {64, 1, 1}, .group = {64, 1, 1}, .threads = rig->threads, .kernarg = &args};
    rig_run(rig, "matrix");
}
