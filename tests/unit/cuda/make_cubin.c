// SPDX-License-Identifier: MIT
#include "make_cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { S_NULL, S_NAMES, S_STRINGS, S_SYMBOLS, S_CALLS, S_INFO, S_TEXT, S_GLOBAL, S_COUNT };

static const char *const section_names[S_COUNT] = {
    "", ".shstrtab", ".strtab", ".symtab", ".nv.callgraph", ".nv.info.f", ".text.f", ".nv.global"};

struct builder {
    Elf64_Sym symbols[64];
    uint32_t symbol_count;
    char strings[1024];
    uint32_t strings_bytes;
    uint32_t calls[64];
    uint32_t call_words;
};

static uint32_t add_symbol(struct builder *b, const char *name, int type, int bind, int other,
                           uint16_t section, uint64_t value, uint64_t size)
{
    b->symbols[b->symbol_count] = (Elf64_Sym){
        .st_name = b->strings_bytes,
        .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
        .st_other = (unsigned char)other,
        .st_shndx = section,
        .st_value = value,
        .st_size = size,
    };
    strcpy(b->strings + b->strings_bytes, name);
    b->strings_bytes += (uint32_t)strlen(name) + 1;
    return b->symbol_count++;
}

static void add_call(struct builder *b, uint32_t caller, uint32_t callee)
{
    b->calls[b->call_words++] = caller;
    b->calls[b->call_words++] = callee;
}

static void fill(struct builder *b, const struct make_cubin *wish)
{
    b->strings_bytes = 1;
    b->symbol_count = 1;
    add_call(b, 0, 0xffffffff);
    for (size_t i = 0; i < MAKE_CUBIN_MOST && wish->kernels[i]; i++) {
        // Sections of text are only told apart by their index here.
        uint32_t kernel =
            add_symbol(b, wish->kernels[i], STT_FUNC, STB_GLOBAL, 0x10, (uint16_t)(100 + i), 0, 64);
        if (wish->calls[i])
            add_call(b, kernel, add_symbol(b, wish->calls[i], STT_FUNC, STB_GLOBAL, 0, SHN_UNDEF, 0, 0));
    }
    if (wish->pointer_only) {
        uint32_t function = add_symbol(b, wish->pointer_only, STT_FUNC, STB_GLOBAL, 0, 200, 0, 64);
        add_call(b, function, add_symbol(b, "vprintf", STT_FUNC, STB_GLOBAL, 0, SHN_UNDEF, 0, 0));
    }
    for (size_t i = 0; i < wish->variable_count; i++)
        add_symbol(b, wish->variables[i], STT_OBJECT, STB_LOCAL,
                   wish->managed && i + 1 == wish->variable_count ? 4 : 0, S_GLOBAL, 8 * i, 8);
}

static void put(unsigned char *image, size_t *at, Elf64_Shdr *section, const void *from, size_t bytes)
{
    *at = (*at + 7) & ~(size_t)7;
    section->sh_offset = *at;
    section->sh_size = bytes;
    memcpy(image + *at, from, bytes);
    *at += bytes;
}

unsigned char *make_cubin(const struct make_cubin *wish, size_t *bytes)
{
    struct builder *b = calloc(1, sizeof *b);
    unsigned char *image = calloc(1, 16384);
    Elf64_Shdr sections[S_COUNT] = {0};
    char names[256] = "";
    size_t at = sizeof(Elf64_Ehdr), name_bytes = 0;

    fill(b, wish);
    for (int i = 0; i < S_COUNT; i++) {
        sections[i].sh_name = (Elf64_Word)name_bytes;
        strcpy(names + name_bytes, section_names[i]);
        name_bytes += strlen(section_names[i]) + 1;
        sections[i].sh_type = SHT_PROGBITS;
    }
    sections[S_NULL].sh_type = SHT_NULL;
    sections[S_NAMES].sh_type = sections[S_STRINGS].sh_type = SHT_STRTAB;
    sections[S_SYMBOLS].sh_type = SHT_SYMTAB;
    sections[S_SYMBOLS].sh_link = S_STRINGS;
    put(image, &at, &sections[S_NAMES], names, name_bytes);
    put(image, &at, &sections[S_STRINGS], b->strings, b->strings_bytes);
    put(image, &at, &sections[S_SYMBOLS], b->symbols, b->symbol_count * sizeof *b->symbols);
    put(image, &at, &sections[S_CALLS], b->calls, b->call_words * sizeof *b->calls);
    put(image, &at, &sections[S_TEXT], "code", 4);
    sections[S_GLOBAL].sh_type = SHT_NOBITS;
    sections[S_GLOBAL].sh_size = 8 * wish->variable_count;
    at = (at + 7) & ~(size_t)7;
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = 190,
        .e_shoff = at,
        .e_shentsize = sizeof *sections,
        .e_shnum = S_COUNT,
        .e_shstrndx = S_NAMES,
    };
    memcpy(image, &header, sizeof header);
    memcpy(image + at, sections, sizeof sections);
    *bytes = at + sizeof sections;
    free(b);
    return image;
}
