// SPDX-License-Identifier: MIT
// Reads a cubin with <elf.h>. Layout facts beyond ELF itself (seen with readelf and cuobjdump on nvcc 13.0
// output): st_other bit 0x10 marks a kernel, 0x04 a managed variable; .nv.callgraph holds pairs of symbol
// indices, caller and callee, with marks above 0xfffffff0; .nv.info.<function> holds attributes of which
// number 0x0f lists the external functions that are called.
#include "cuda/cubin.h"

#include "kreplay/kreplay.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA   190
#define OTHER_KERNEL   0x10
#define OTHER_MANAGED  0x04
#define FIRST_MARK     0xfffffff0u
#define ATTRIBUTE_HEAD 4u
#define FORMAT_SIZED   4u
#define EXTERNS        0x0fu

struct reader {
    const unsigned char *image;
    size_t bytes;
    const Elf64_Shdr *sections;
    size_t section_count;
    const char *names; // of sections
    size_t names_bytes;
    Elf64_Sym *symbols; // a copy: the image may be unaligned
    size_t symbol_count;
    size_t strings_bytes;
    const char **effect; // of each symbol: the external function that it calls in the end
    bool *called;
};

static bool inside(const struct reader *reader, uint64_t offset, uint64_t bytes)
{
    return offset <= reader->bytes && bytes <= reader->bytes - offset;
}

static const char *section_name(const struct reader *reader, const Elf64_Shdr *section)
{
    return section->sh_name < reader->names_bytes ? reader->names + section->sh_name : "";
}

// A string table that is inside the image and ends with a NUL; NULL otherwise.
static const char *string_table(const struct reader *reader, size_t index, size_t *bytes)
{
    if (index >= reader->section_count)
        return NULL;
    const Elf64_Shdr *section = &reader->sections[index];
    if (section->sh_type != SHT_STRTAB || section->sh_size == 0 ||
        !inside(reader, section->sh_offset, section->sh_size) ||
        reader->image[section->sh_offset + section->sh_size - 1] != '\0')
        return NULL;
    *bytes = section->sh_size;
    return (const char *)reader->image + section->sh_offset;
}

static int open_sections(struct reader *reader, Elf64_Shdr **copy)
{
    Elf64_Ehdr header;
    if (reader->bytes < sizeof header)
        return KREPLAY_CORRUPT;
    memcpy(&header, reader->image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != MACHINE_CUDA || header.e_shentsize != sizeof **copy ||
        !inside(reader, header.e_shoff, (uint64_t)header.e_shnum * sizeof **copy) || header.e_shnum == 0)
        return KREPLAY_CORRUPT;
    *copy = malloc(header.e_shnum * sizeof **copy);
    if (!*copy)
        return KREPLAY_NO_MEMORY;
    memcpy(*copy, reader->image + header.e_shoff, header.e_shnum * sizeof **copy);
    reader->sections = *copy;
    reader->section_count = header.e_shnum;
    reader->names = string_table(reader, header.e_shstrndx, &reader->names_bytes);
    return reader->names ? 0 : KREPLAY_CORRUPT;
}

static int open_symbols(struct reader *reader, struct kr_cubin *cubin)
{
    for (size_t i = 0; i < reader->section_count; i++) {
        const Elf64_Shdr *section = &reader->sections[i];
        const char *strings;
        if (section->sh_type != SHT_SYMTAB)
            continue;
        strings = string_table(reader, section->sh_link, &reader->strings_bytes);
        if (!strings || !inside(reader, section->sh_offset, section->sh_size))
            return KREPLAY_CORRUPT;
        reader->symbol_count = section->sh_size / sizeof *reader->symbols;
        cubin->strings = malloc(reader->strings_bytes);
        reader->symbols = calloc(reader->symbol_count + 1, sizeof *reader->symbols);
        reader->effect = calloc(reader->symbol_count + 1, sizeof *reader->effect);
        reader->called = calloc(reader->symbol_count + 1, sizeof *reader->called);
        if (!cubin->strings || !reader->symbols || !reader->effect || !reader->called)
            return KREPLAY_NO_MEMORY;
        memcpy(cubin->strings, strings, reader->strings_bytes);
        memcpy(reader->symbols, reader->image + section->sh_offset,
               reader->symbol_count * sizeof *reader->symbols);
        for (size_t s = 0; s < reader->symbol_count; s++)
            if (reader->symbols[s].st_name >= reader->strings_bytes)
                return KREPLAY_CORRUPT;
        return 0;
    }
    return KREPLAY_CORRUPT;
}

static bool is_kernel(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           (symbol->st_other & OTHER_KERNEL);
}

// assert() prints and stops the kernel when it fails, and does nothing at all otherwise.
static bool is_harmless(const char *function)
{
    return strcmp(function, "__assertfail") == 0;
}

static uint32_t read_u32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static bool changes_heap(const char *function)
{
    static const char *const names[] = {"malloc", "free", "__nv_aligned_device_malloc"};
    for (size_t i = 0; function && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(function, names[i]) == 0)
            return true;
    return false;
}

// Returns true if the edge told something new. Of several effects the one on the heap stays, since it concerns other
// kernels, too.
static bool add_call(struct reader *reader, uint32_t caller, uint32_t callee)
{
    if (caller == 0 || caller >= reader->symbol_count || callee >= reader->symbol_count)
        return false;
    reader->called[callee] = true;
    const char *known = reader->effect[caller], *added = reader->effect[callee];
    if (!added || changes_heap(known) || (known && !changes_heap(added)))
        return false;
    reader->effect[caller] = added;
    return true;
}

static bool read_callgraph(struct reader *reader, const Elf64_Shdr *section)
{
    const unsigned char *at = reader->image + section->sh_offset;
    bool news = false;
    for (size_t i = 0; i + 8 <= section->sh_size; i += 8)
        if (read_u32(at + i) < FIRST_MARK && read_u32(at + i + 4) < FIRST_MARK)
            news |= add_call(reader, read_u32(at + i), read_u32(at + i + 4));
    return news;
}

// The functions of text section `text` call what is listed.
static bool read_externs(struct reader *reader, uint32_t text, const unsigned char *list, size_t bytes)
{
    bool news = false;
    for (size_t i = 0; i + 4 <= bytes; i += 4)
        for (size_t s = 0; s < reader->symbol_count; s++)
            if (reader->symbols[s].st_shndx == text && ELF64_ST_TYPE(reader->symbols[s].st_info) == STT_FUNC)
                news |= add_call(reader, (uint32_t)s, read_u32(list + i));
    return news;
}

static bool read_info(struct reader *reader, const Elf64_Shdr *section)
{
    const unsigned char *at = reader->image + section->sh_offset;
    bool news = false;
    size_t i = 0;
    while (i + ATTRIBUTE_HEAD <= section->sh_size) {
        size_t bytes = 0;
        if (at[i] == FORMAT_SIZED)
            bytes = at[i + 2] | (size_t)at[i + 3] << 8;
        if (bytes > section->sh_size - i - ATTRIBUTE_HEAD)
            break;
        if (at[i] == FORMAT_SIZED && at[i + 1] == EXTERNS)
            news |= read_externs(reader, section->sh_info, at + i + ATTRIBUTE_HEAD, bytes);
        i += ATTRIBUTE_HEAD + bytes;
    }
    return news;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

// Carries effects from callees to callers until nothing changes.
static void follow_calls(struct reader *reader)
{
    bool news = true;
    while (news) {
        news = false;
        for (size_t i = 0; i < reader->section_count; i++) {
            const Elf64_Shdr *section = &reader->sections[i];
            const char *name = section_name(reader, section);
            if (section->sh_type == SHT_NOBITS || !inside(reader, section->sh_offset, section->sh_size))
                continue;
            if (strcmp(name, ".nv.callgraph") == 0)
                news |= read_callgraph(reader, section);
            else if (starts_with(name, ".nv.info."))
                news |= read_info(reader, section);
        }
    }
}

static bool shares_section_with_kernel(const struct reader *reader, const Elf64_Sym *function)
{
    for (size_t i = 0; i < reader->symbol_count; i++)
        if (is_kernel(&reader->symbols[i]) && reader->symbols[i].st_shndx == function->st_shndx)
            return true;
    return false;
}

// The effect of functions that nothing calls by name: any kernel may reach them through a pointer.
static const char *effect_by_pointer(const struct reader *reader)
{
    const char *effect = NULL;
    for (size_t i = 1; i < reader->symbol_count; i++) {
        const Elf64_Sym *symbol = &reader->symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            reader->effect[i] && !reader->called[i] && !is_kernel(symbol) &&
            !shares_section_with_kernel(reader, symbol) && !changes_heap(effect))
            effect = reader->effect[i];
    }
    return effect;
}

static int collect_kernels(struct reader *reader, struct kr_cubin *cubin)
{
    for (size_t i = 1; i < reader->symbol_count; i++) {
        const char *name = cubin->strings + reader->symbols[i].st_name;
        if (ELF64_ST_TYPE(reader->symbols[i].st_info) == STT_FUNC &&
            reader->symbols[i].st_shndx == SHN_UNDEF && !is_harmless(name))
            reader->effect[i] = name;
        cubin->kernel_count += is_kernel(&reader->symbols[i]);
    }
    follow_calls(reader);
    cubin->kernels = calloc(cubin->kernel_count + 1, sizeof *cubin->kernels);
    if (!cubin->kernels)
        return KREPLAY_NO_MEMORY;
    const char *by_pointer = effect_by_pointer(reader);
    size_t next = 0;
    for (size_t i = 1; i < reader->symbol_count; i++)
        if (is_kernel(&reader->symbols[i])) {
            const char *own = reader->effect[i];
            const char *calls = !own || changes_heap(by_pointer) ? by_pointer : own;
            cubin->kernels[next++] = (struct kr_cubin_kernel){
                .name = cubin->strings + reader->symbols[i].st_name,
                .calls = calls,
                .heap = changes_heap(calls),
            };
        }
    return 0;
}

static bool is_variable(const struct reader *reader, const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size > 0 &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < reader->section_count &&
           starts_with(section_name(reader, &reader->sections[symbol->st_shndx]), ".nv.global");
}

static int collect_variables(struct reader *reader, struct kr_cubin *cubin)
{
    size_t count = 0;
    for (size_t i = 1; i < reader->symbol_count; i++)
        count += is_variable(reader, &reader->symbols[i]);
    cubin->variables = calloc(count + 1, sizeof *cubin->variables);
    if (!cubin->variables)
        return KREPLAY_NO_MEMORY;
    for (size_t i = 1; i < reader->symbol_count; i++) {
        const Elf64_Sym *symbol = &reader->symbols[i];
        if (!is_variable(reader, symbol))
            continue;
        const char *name = cubin->strings + symbol->st_name;
        cubin->managed |= (symbol->st_other & OTHER_MANAGED) != 0;
        cubin->variables[cubin->variable_count++] = (struct kr_cubin_variable){
            .name = name,
            .bytes = symbol->st_size,
            .constant = name[0] == '$' || starts_with(name, "__unnamed_"),
        };
    }
    return 0;
}

int kr_cubin_parse(const void *image, size_t bytes, struct kr_cubin **out)
{
    struct reader reader = {.image = image, .bytes = image ? bytes : 0};
    Elf64_Shdr *sections = NULL;
    struct kr_cubin *cubin = calloc(1, sizeof *cubin);
    int status = cubin ? open_sections(&reader, &sections) : KREPLAY_NO_MEMORY;

    *out = NULL;
    if (status == 0)
        status = open_symbols(&reader, cubin);
    if (status == 0)
        status = collect_kernels(&reader, cubin);
    if (status == 0)
        status = collect_variables(&reader, cubin);
    free(sections);
    free(reader.symbols);
    free(reader.effect);
    free(reader.called);
    if (status != 0) {
        kr_cubin_free(cubin);
        return status;
    }
    *out = cubin;
    return 0;
}

void kr_cubin_free(struct kr_cubin *cubin)
{
    if (!cubin)
        return;
    free(cubin->variables);
    free(cubin->kernels);
    free(cubin->strings);
    free(cubin);
}

const struct kr_cubin_kernel *kr_cubin_find(const struct kr_cubin *cubin, const char *kernel)
{
    for (size_t i = 0; i < cubin->kernel_count; i++)
        if (strcmp(cubin->kernels[i].name, kernel) == 0)
            return &cubin->kernels[i];
    return NULL;
}
