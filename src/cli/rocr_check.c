// SPDX-License-Identifier: MIT
// Whether the ROCr that programs get takes its thunk from a library of its own, as distribution builds do.
// AMD's own packages since ROCm 6.3 link the thunk into ROCr; below such a one no software GPU can be put.
#include "cli/checks.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROCR  "libhsa-runtime64.so.1"
#define THUNK "libhsakmt.so.1"

// ---- ELF: the names in the dynamic section, every offset checked against the file.

struct image {
    const unsigned char *data;
    size_t bytes;
};

static const void *part(const struct image *image, uint64_t offset, uint64_t bytes)
{
    if (offset > image->bytes || bytes > image->bytes - offset)
        return NULL;
    return image->data + offset;
}

static const Elf64_Phdr *program_headers(const struct image *image, size_t *count)
{
    const Elf64_Ehdr *head = part(image, 0, sizeof(*head));
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_phentsize != sizeof(Elf64_Phdr))
        return NULL;
    *count = head->e_phnum;
    return part(image, head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr));
}

// File offset of a virtual address; the image's size when nothing is loaded there.
static uint64_t offset_of(const struct image *image, const Elf64_Phdr *headers, size_t count,
                          uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr &&
            address - headers[i].p_vaddr < headers[i].p_filesz)
            return address - headers[i].p_vaddr + headers[i].p_offset;
    return image->bytes;
}

static int needs(const struct image *image, const char *library)
{
    size_t count = 0;
    const Elf64_Phdr *headers = program_headers(image, &count);
    const Elf64_Dyn *dynamic = NULL;
    size_t entries = 0;
    for (size_t i = 0; headers && i < count; i++)
        if (headers[i].p_type == PT_DYNAMIC) {
            dynamic = part(image, headers[i].p_offset, headers[i].p_filesz);
            entries = headers[i].p_filesz / sizeof(*dynamic);
        }
    if (!dynamic)
        return -1;
    uint64_t strings = image->bytes;
    for (size_t i = 0; i < entries && dynamic[i].d_tag != DT_NULL; i++)
        if (dynamic[i].d_tag == DT_STRTAB)
            strings = offset_of(image, headers, count, dynamic[i].d_un.d_ptr);
    size_t length = strlen(library) + 1;
    for (size_t i = 0; i < entries && dynamic[i].d_tag != DT_NULL; i++) {
        if (dynamic[i].d_tag != DT_NEEDED || dynamic[i].d_un.d_val > image->bytes)
            continue;
        const char *name = part(image, strings + dynamic[i].d_un.d_val, length);
        if (name && memcmp(name, library, length) == 0)
            return 1;
    }
    return 0;
}

int kr_elf_needs(const char *path, const char *library)
{
    int result = -1;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            const struct image image = {data, (size_t)status.st_size};
            result = needs(&image, library);
            munmap(data, (size_t)status.st_size);
        }
    }
    close(fd);
    return result;
}

// ---- Which ROCr: only the loader knows (cache, LD_LIBRARY_PATH), so a child process asks it and leaves.

static void tell_path(int fd)
{
    struct link_map *map = NULL;
    void *library = dlopen(ROCR, RTLD_LAZY | RTLD_LOCAL);
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) {
        ssize_t written = write(fd, map->l_name, strlen(map->l_name));
        (void)written; // the reader sees what came
    }
    _exit(0); // without destructors of what was loaded
}

static bool find_rocr(char *path, size_t bytes)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        tell_path(ends[1]);
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (child > 0 && length + 1 < bytes && (got = read(ends[0], path + length, bytes - 1 - length)) > 0)
        length += (size_t)got;
    path[length] = '\0';
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return length > 0;
}

int kr_check_rocr(char *error, size_t error_bytes)
{
    char path[4096];
    if (!find_rocr(path, sizeof(path)))
        return 0;
    if (kr_elf_needs(path, THUNK) != 0)
        return 0;
    snprintf(
        error, error_bytes,
        "the software GPU cannot go below %s: it has its thunk linked in, where distribution builds load %s",
        path, THUNK);
    return -1;
}
