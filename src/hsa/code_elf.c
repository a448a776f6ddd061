// SPDX-License-Identifier: MIT
// Walks sections, segments, symbols and notes of a code object with <elf.h> alone. The names of notes and the
// managed suffix are of LLVM's AMDGPU usage guide and of clang's HIP code generation.
#include "hsa/code_elf.h"

#include <elf.h>
#include <string.h>

enum { NT_AMDGPU_METADATA_NOTE = 32 };

struct file {
    const unsigned char *bytes;
    size_t size;
};

static const void *at(const struct file *f, uint64_t offset, uint64_t size)
{
    if (offset > f->size || size > f->size - offset)
        return NULL;
    return f->bytes + offset;
}

// Headers may lie unaligned in the program's memory.
static bool header(const struct file *f, uint64_t table, unsigned index, size_t entry, void *out, size_t size)
{
    const void *p = entry < size ? NULL : at(f, table + (uint64_t)index * entry, size);
    if (!p)
        return false;
    memcpy(out, p, size);
    return true;
}

// Takes the first note off *notes. False: what is left holds none.
static bool next_note(const unsigned char **notes, size_t *size, Elf64_Nhdr *note,
                      const unsigned char **start)
{
    if (*notes == NULL || *size < sizeof(*note))
        return false;
    memcpy(note, *notes, sizeof(*note));
    uint64_t name = ((uint64_t)note->n_namesz + 3) & ~UINT64_C(3),
             data = ((uint64_t)note->n_descsz + 3) & ~UINT64_C(3);
    if (sizeof(*note) + name + note->n_descsz > *size)
        return false;
    uint64_t whole = sizeof(*note) + name + data; // the last one may lack its padding
    whole = whole < *size ? whole : *size;
    *start = *notes;
    *notes += whole;
    *size -= whole;
    return true;
}

bool kr_code_elf_metadata(struct kr_code_elf *elf, const void **metadata, size_t *bytes)
{
    const unsigned char *notes = elf->notes, *start;
    Elf64_Nhdr note;
    bool found = false;
    while (!found && next_note(&notes, &elf->notes_bytes, &note, &start)) {
        found = note.n_type == NT_AMDGPU_METADATA_NOTE && note.n_namesz == sizeof("AMDGPU") &&
                memcmp(start + sizeof(note), "AMDGPU", sizeof("AMDGPU")) == 0;
        *metadata = start + sizeof(note) + (((uint64_t)note.n_namesz + 3) & ~UINT64_C(3));
        *bytes = note.n_descsz;
    }
    elf->notes = notes;
    return found;
}

// Keeps the notes if they have metadata.
static void keep_notes(const struct file *f, uint64_t offset, uint64_t size, struct kr_code_elf *out)
{
    const void *metadata;
    size_t bytes;
    struct kr_code_elf elf = {.notes = at(f, offset, size), .notes_bytes = size};
    if (out->notes != NULL || !kr_code_elf_metadata(&elf, &metadata, &bytes))
        return;
    out->notes = at(f, offset, size);
    out->notes_bytes = size;
}

static bool ends_with(const char *text, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);
    return length > n && memcmp(text + length - n, suffix, n) == 0;
}

static void symbols(const struct file *f, const Elf64_Ehdr *ehdr, const Elf64_Shdr *table,
                    struct kr_code_elf *out)
{
    Elf64_Shdr strings;
    if (!header(f, ehdr->e_shoff, table->sh_link, ehdr->e_shentsize, &strings, sizeof(strings)))
        return;
    const char *names = at(f, strings.sh_offset, strings.sh_size);
    const unsigned char *entries = at(f, table->sh_offset, table->sh_size);
    if (!names || !entries)
        return;
    for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym) && !out->managed; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, entries + i * sizeof(symbol), sizeof(symbol));
        if (symbol.st_name >= strings.sh_size || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
            continue;
        const char *name = names + symbol.st_name;
        out->managed = ends_with(name, strnlen(name, strings.sh_size - symbol.st_name), ".managed");
    }
}

// The loader would have refused a file whose ranges go around the end of the address space.
static bool is_range(uint64_t address, uint64_t bytes)
{
    return bytes - 1 <= UINT64_MAX - address;
}

bool kr_code_elf_read(const void *file, size_t bytes, struct kr_code_elf *out, kr_code_elf_range_fn writable,
                      void *arg)
{
    struct file f = {file, bytes};
    Elf64_Ehdr ehdr;
    *out = (struct kr_code_elf){0};
    if (bytes < sizeof(ehdr))
        return false;
    memcpy(&ehdr, file, sizeof(ehdr));
    if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
        ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;

    Elf64_Shdr section;
    bool sections = false;
    for (unsigned i = 0; i < ehdr.e_shnum; i++) {
        if (!header(&f, ehdr.e_shoff, i, ehdr.e_shentsize, &section, sizeof(section)))
            break;
        sections = true;
        if (section.sh_type == SHT_NOTE)
            keep_notes(&f, section.sh_offset, section.sh_size, out);
        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM)
            symbols(&f, &ehdr, &section, out);
        const uint64_t data = SHF_ALLOC | SHF_WRITE;
        if ((section.sh_flags & data) != data || section.sh_type == SHT_DYNAMIC || section.sh_size == 0)
            continue;
        if (!is_range(section.sh_addr, section.sh_size))
            return false;
        writable(arg, section.sh_addr, section.sh_size);
    }
    for (unsigned i = 0; i < ehdr.e_phnum; i++) {
        Elf64_Phdr segment;
        if (!header(&f, ehdr.e_phoff, i, ehdr.e_phentsize, &segment, sizeof(segment)))
            break;
        if (segment.p_type == PT_NOTE)
            keep_notes(&f, segment.p_offset, segment.p_filesz, out);
        if (sections || segment.p_type != PT_LOAD || !(segment.p_flags & PF_W) || segment.p_memsz == 0)
            continue;
        if (!is_range(segment.p_vaddr, segment.p_memsz))
            return false;
        writable(arg, segment.p_vaddr, segment.p_memsz);
    }
    return true;
}
