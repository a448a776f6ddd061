// SPDX-License-Identifier: MIT
// Kernel descriptors and kernel names. ROCr loads a code object's segments as one piece, with the ELF header
// and the dynamic symbols in front of the descriptors. So the name of a kernel is found by going back from
// its descriptor, page by page, to an ELF header whose symbol table has a symbol at exactly that address.
// Done once a kernel, then cached. Source of the descriptor's layout: LLVM "User Guide for AMDGPU Backend",
// Kernel Descriptor.
#include "softgpu/cp/kernel_object.h"
#include "softgpu/mem/mem.h"

#include <elf.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PAGE            4096u
#define MAX_WALK        (64u << 20) // bytes before the descriptor that are searched for the ELF header
#define MACHINE_AMDGPU  224
#define DESCRIPTOR_SIZE 64

static atomic_uint_fast64_t generation = 1;

void sg_kernel_names_invalidate(void)
{
    atomic_fetch_add(&generation, 1);
}

// A loaded code object: `base` is where its address 0 is, `end` the end of the memory around it.
struct image {
    uint64_t base, end;
};

// Pointer to `bytes` at the image's own address `vaddr`, NULL if they are not inside.
static const void *inside(const struct image *image, uint64_t vaddr, uint64_t bytes)
{
    uint64_t size = image->end - image->base;
    if (vaddr > size || bytes > size - vaddr)
        return NULL;
    return (const void *)(uintptr_t)(image->base + vaddr);
}

static const Elf64_Dyn *find_dynamic(const struct image *image, uint64_t *entries)
{
    const Elf64_Ehdr *header = inside(image, 0, sizeof(*header));
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_machine != MACHINE_AMDGPU)
        return NULL;
    const Elf64_Phdr *segments = inside(image, header->e_phoff, header->e_phnum * sizeof(*segments));
    for (unsigned i = 0; segments && i < header->e_phnum; i++) {
        if (segments[i].p_type != PT_DYNAMIC)
            continue;
        *entries = segments[i].p_memsz / sizeof(Elf64_Dyn);
        return inside(image, segments[i].p_vaddr, segments[i].p_memsz);
    }
    return NULL;
}

// Copies the name of the symbol at image address `value`, without its suffix ".kd". False if there is none.
static bool symbol_name(const struct image *image, uint64_t value, char *name)
{
    uint64_t entries = 0, symtab = 0, strtab = 0, strtab_bytes = 0, hash = 0;
    const Elf64_Dyn *dynamic = find_dynamic(image, &entries);
    for (uint64_t i = 0; dynamic && i < entries && dynamic[i].d_tag != DT_NULL; i++) {
        switch (dynamic[i].d_tag) {
        case DT_SYMTAB:
            symtab = dynamic[i].d_un.d_ptr;
            break;
        case DT_STRTAB:
            strtab = dynamic[i].d_un.d_ptr;
            break;
        case DT_STRSZ:
            strtab_bytes = dynamic[i].d_un.d_val;
            break;
        case DT_HASH:
            hash = dynamic[i].d_un.d_ptr;
            break;
        }
    }
    const Elf64_Word *hash_head = hash ? inside(image, hash, 2 * sizeof(*hash_head)) : NULL;
    if (!hash_head)
        return false;
    uint64_t count = hash_head[1]; // nchain: as many as symbols
    const Elf64_Sym *symbols = inside(image, symtab, count * sizeof(*symbols));
    const char *strings = inside(image, strtab, strtab_bytes);
    for (uint64_t i = 0; symbols && strings && i < count; i++) {
        if (symbols[i].st_value != value || symbols[i].st_shndx == SHN_UNDEF ||
            symbols[i].st_name >= strtab_bytes)
            continue;
        size_t length = strnlen(strings + symbols[i].st_name, strtab_bytes - symbols[i].st_name);
        const char *text = strings + symbols[i].st_name;
        if (length > 3 && !memcmp(text + length - 3, ".kd", 3))
            length -= 3;
        snprintf(name, SG_KERNEL_NAME_BYTES, "%.*s", (int)length, text);
        return true;
    }
    return false;
}

static bool find_name(uint64_t object, const struct sg_mem_info *memory, char *name)
{
    uint64_t lowest = memory->base;
    if (object - lowest > MAX_WALK)
        lowest = object - MAX_WALK;
    for (uint64_t at = object & ~(uint64_t)(PAGE - 1); at >= lowest; at -= PAGE) {
        struct image image = {.base = at, .end = memory->base + memory->bytes};
        if (symbol_name(&image, object - at, name))
            return true;
    }
    return false;
}

// The cache's slot for this object with a valid name; NULL when the object's address is bad.
static const struct sg_kernel_cache_slot *look_up(struct sg_kernel_cache *cache, uint64_t object)
{
    struct sg_kernel_cache_slot *slot = &cache->slots[(object / DESCRIPTOR_SIZE) % 64];
    uint64_t now = atomic_load(&generation);
    // Also for a known name: the memory may be gone.
    struct sg_mem_info memory;
    if (!object || sg_mem_query((const void *)(uintptr_t)object, &memory))
        return NULL;
    if (memory.base + memory.bytes - object < DESCRIPTOR_SIZE)
        return NULL;
    if (slot->object == object && slot->generation == now)
        return slot;
    // No symbols are at hand for code that was not loaded as an ELF file, such as ROCr's own copy kernels.
    if (!find_name(object, &memory, slot->name))
        snprintf(slot->name, sizeof(slot->name), "(unnamed, kernel object 0x%" PRIx64 ")", object);
    slot->object = object;
    slot->generation = now;
    return slot;
}

int sg_kernel_object_load(struct sg_kernel_cache *cache, uint64_t object, struct sg_launch *launch)
{
    const struct sg_kernel_cache_slot *slot = look_up(cache, object);
    if (!slot)
        return -1;
    const unsigned char *bytes = (const unsigned char *)(uintptr_t)object;
    int64_t entry_offset;
    memcpy(&entry_offset, bytes + 16, sizeof(entry_offset));
    memcpy(&launch->rsrc3, bytes + 44, sizeof(launch->rsrc3));
    memcpy(&launch->rsrc1, bytes + 48, sizeof(launch->rsrc1));
    memcpy(&launch->rsrc2, bytes + 52, sizeof(launch->rsrc2));
    memcpy(&launch->properties, bytes + 56, sizeof(launch->properties));
    launch->entry = object + (uint64_t)entry_offset;
    launch->kernel_name = slot->name;
    return 0;
}
