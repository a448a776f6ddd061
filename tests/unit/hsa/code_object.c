// SPDX-License-Identifier: MIT
// Writes the smallest files that have what kreplay looks for.
#include "code_object.h"

#include <elf.h>
#include <string.h>

static void put(struct bytes *b, const void *data, size_t size)
{
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_byte(struct bytes *b, unsigned value)
{
    unsigned char byte = (unsigned char)value;
    put(b, &byte, 1);
}

void pack_map(struct bytes *b, unsigned pairs)
{
    put_byte(b, 0x80 | pairs);
}

void pack_array(struct bytes *b, unsigned count)
{
    put_byte(b, 0x90 | count);
}

void pack_text(struct bytes *b, const char *text)
{
    size_t length = strlen(text);
    if (length < 32) {
        put_byte(b, 0xa0 | (unsigned)length);
    } else {
        put_byte(b, 0xd9);
        put_byte(b, (unsigned)length);
    }
    put(b, text, length);
}

void pack_number(struct bytes *b, uint32_t value)
{
    put_byte(b, 0xce);
    for (int shift = 24; shift >= 0; shift -= 8)
        put_byte(b, value >> shift & 0xff);
}

static void pack_argument(struct bytes *b, const struct test_argument *a)
{
    pack_map(b, a->access ? 4 : 3);
    pack_text(b, ".offset");
    pack_number(b, a->offset);
    pack_text(b, ".size");
    pack_number(b, a->size);
    pack_text(b, ".value_kind");
    pack_text(b, a->value_kind);
    if (a->access) {
        pack_text(b, ".actual_access");
        pack_text(b, a->access);
    }
}

void make_metadata(struct bytes *b, const struct test_kernel *kernels, unsigned count)
{
    b->size = 0;
    pack_map(b, 2);
    pack_text(b, "amdhsa.version");
    pack_array(b, 2);
    pack_number(b, 1);
    pack_number(b, 1);
    pack_text(b, "amdhsa.kernels");
    pack_array(b, count);
    for (unsigned i = 0; i < count; i++) {
        pack_map(b, 4);
        pack_text(b, ".args");
        pack_array(b, kernels[i].argument_count);
        for (unsigned k = 0; k < kernels[i].argument_count; k++)
            pack_argument(b, &kernels[i].arguments[k]);
        pack_text(b, ".sgpr_count");
        pack_number(b, 10 + i);
        pack_text(b, ".symbol");
        pack_text(b, kernels[i].symbol);
        pack_text(b, ".vgpr_count");
        pack_number(b, 20 + i);
    }
}

void make_code_object(struct bytes *b, const struct bytes *metadata, unsigned count, const char *variable,
                      bool sections)
{
    enum { NOTE = 1, DATA, BSS, RODATA, SYMTAB, STRTAB, DYNAMIC, COUNT };
    const Elf64_Nhdr foreign = {.n_namesz = 4, .n_descsz = 4, .n_type = 32};
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1}};
    Elf64_Shdr table[COUNT] = {0};
    Elf64_Sym symbols[2] = {0};

    b->size = 0;
    put(b, &header, sizeof(header));
    uint64_t note_at = b->size;
    put(b, &foreign, sizeof(foreign));
    put(b, "GNU\0abcd", 8);
    for (unsigned i = 0; i < count; i++) {
        const Elf64_Nhdr note = {.n_namesz = 7, .n_descsz = (Elf64_Word)metadata[i].size, .n_type = 32};
        put(b, &note, sizeof(note));
        put(b, "AMDGPU\0", 8);
        put(b, metadata[i].data, metadata[i].size);
        while (b->size % 4)
            put_byte(b, 0);
    }
    while (b->size % 8)
        put_byte(b, 0);
    uint64_t note_size = b->size - note_at;

    table[NOTE] =
        (Elf64_Shdr){.sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_offset = note_at, .sh_size = note_size};
    table[DATA] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                               .sh_flags = SHF_ALLOC | SHF_WRITE,
                               .sh_addr = 0x2000,
                               .sh_offset = b->size,
                               .sh_size = 64};
    table[BSS] = (Elf64_Shdr){.sh_type = SHT_NOBITS,
                              .sh_flags = SHF_ALLOC | SHF_WRITE,
                              .sh_addr = 0x2040,
                              .sh_offset = b->size,
                              .sh_size = 32};
    table[RODATA] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                 .sh_flags = SHF_ALLOC,
                                 .sh_addr = 0x1000,
                                 .sh_offset = b->size,
                                 .sh_size = 16};
    table[DYNAMIC] = (Elf64_Shdr){.sh_type = SHT_DYNAMIC,
                                  .sh_flags = SHF_ALLOC | SHF_WRITE,
                                  .sh_addr = 0x3000,
                                  .sh_offset = b->size,
                                  .sh_size = 16};
    symbols[1] = (Elf64_Sym){.st_name = 1,
                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                             .st_shndx = DATA,
                             .st_value = 0x2000,
                             .st_size = 4};
    table[SYMTAB] = (Elf64_Shdr){
        .sh_type = SHT_SYMTAB, .sh_offset = b->size, .sh_size = sizeof(symbols), .sh_link = STRTAB};
    put(b, symbols, sizeof(symbols));
    table[STRTAB] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = b->size, .sh_size = strlen(variable) + 2};
    put(b, "", 1);
    put(b, variable, strlen(variable) + 1);
    while (b->size % 8)
        put_byte(b, 0);

    if (sections) {
        header.e_shoff = b->size;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = COUNT;
        put(b, table, sizeof(table));
    } else {
        const Elf64_Phdr segments[] = {
            {.p_type = PT_NOTE, .p_flags = PF_R, .p_offset = note_at, .p_filesz = note_size},
            {.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x1000, .p_memsz = 16},
            {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x2000, .p_memsz = 96},
        };
        header.e_phoff = b->size;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = 3;
        put(b, segments, sizeof(segments));
    }
    memcpy(b->data, &header, sizeof(header));
}
