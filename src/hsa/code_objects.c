// SPDX-License-Identifier: MIT
// Learns what a frozen executable contains, through the loader extension and the executable's symbols.
#include "hsa/code_objects.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "hsa/code_elf.h"
#include "hsa/metadata.h"

enum { BUCKETS = 4096 };

static pthread_rwlock_t kernels_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct kr_hsa_kernel *kernels[BUCKETS];
static struct kr_hsa_kernel *retired; // of destroyed executables: records may still name them

// Writable ranges that were added to the inventory, to be removed with their executable.
struct module_range {
    struct module_range *next;
    hsa_executable_t executable;
    void *base;
};
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;
static struct module_range *ranges;

static unsigned bucket(uint64_t object)
{
    return (unsigned)((object >> 6) * 0x9e3779b97f4a7c15u >> 52) % BUCKETS;
}

const struct kr_hsa_kernel *kr_hsa_kernel_find(uint64_t object)
{
    pthread_rwlock_rdlock(&kernels_lock);
    const struct kr_hsa_kernel *kernel = kernels[bucket(object)];
    while (kernel && kernel->object != object)
        kernel = kernel->next;
    pthread_rwlock_unlock(&kernels_lock);
    return kernel;
}

// One code object while its executable is looked through.
struct loaded {
    struct loaded *next;
    uint64_t id, base, bytes;
    int64_t delta;
    struct kr_hsa_agent *agent;
    struct kr_code_elf elf;
    bool readable;                      // elf is filled
    struct kr_kernel_metadata *kernels; // sorted by symbol; they point into the file
    size_t kernel_count, kernel_capacity;
    void *mapping; // of a file, unmapped when done
    size_t mapping_bytes;
    hsa_executable_t executable;
};

static void add_memory(const struct loaded *object, void *base, uint64_t bytes, enum kr_memory_kind kind)
{
    struct module_range *range = malloc(sizeof(*range));
    if (!range || kr_inventory_add(kr_hsa.engine, object->agent->id, base, bytes, kind) != KREPLAY_OK) {
        free(range);
        kr_hsa_blind(object->agent, KREPLAY_REASON_UNTRACKED_MEMORY,
                     "out of memory, variables of a code object cannot be tracked");
        return;
    }
    *range = (struct module_range){NULL, object->executable, base};
    pthread_mutex_lock(&ranges_lock);
    range->next = ranges;
    ranges = range;
    pthread_mutex_unlock(&ranges_lock);
}

static void add_range(void *arg, uint64_t address, uint64_t bytes)
{
    const struct loaded *object = arg;
    add_memory(object, (void *)(uintptr_t)(address + (uint64_t)object->delta), bytes, KR_MEMORY_MODULE);
}

// Undoes %XX in place.
static void decode(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (in[0] == '%' && isxdigit((unsigned char)in[1]) && isxdigit((unsigned char)in[2])) {
            const char hex[3] = {in[1], in[2], '\0'};
            *out++ = (char)strtol(hex, NULL, 16);
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
}

// Maps the file of "file://path#offset=n&size=n" and sets *file to the code object in it.
static bool map_uri(const char *uri, struct loaded *object, const void **file, size_t *bytes)
{
    static const char scheme[] = "file://";
    if (strncmp(uri, scheme, sizeof(scheme) - 1) != 0)
        return false;
    char *path = strdup(uri + sizeof(scheme) - 1);
    if (!path)
        return false;
    uint64_t offset = 0, size = 0;
    char *range = strpbrk(path, "#?");
    if (range) {
        const char *o = strstr(range, "offset="), *s = strstr(range, "size=");
        offset = o ? strtoull(o + 7, NULL, 0) : 0;
        size = s ? strtoull(s + 5, NULL, 0) : 0;
        *range = '\0';
    }
    decode(path);

    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (fd < 0)
        return false;
    void *mapping = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size > 0 && offset < (uint64_t)st.st_size)
        mapping = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapping == MAP_FAILED)
        return false;
    object->mapping = mapping;
    object->mapping_bytes = (size_t)st.st_size;
    *file = (const char *)mapping + offset;
    *bytes = (size_t)st.st_size - offset;
    if (size > 0 && size < *bytes)
        *bytes = size;
    return true;
}

struct walk {
    hsa_ven_amd_loader_1_01_pfn_t loader;
    hsa_executable_t executable;
    struct loaded *objects;
};

static int by_symbol(const void *a, const void *b)
{
    const struct kr_kernel_metadata *x = a, *y = b;
    if (x->symbol_length != y->symbol_length)
        return x->symbol_length < y->symbol_length ? -1 : 1;
    return memcmp(x->symbol, y->symbol, x->symbol_length);
}

static void describe(void *arg, const struct kr_kernel_metadata *kernel)
{
    struct loaded *object = arg;
    if (object->kernel_count == object->kernel_capacity) {
        size_t capacity = object->kernel_capacity ? object->kernel_capacity * 2 : 16;
        struct kr_kernel_metadata *grown = realloc(object->kernels, capacity * sizeof(*grown));
        if (!grown)
            return; // a kernel that is missing here runs once
        object->kernels = grown;
        object->kernel_capacity = capacity;
    }
    object->kernels[object->kernel_count++] = *kernel;
}

static void read_elf(const struct walk *walk, hsa_loaded_code_object_t handle, const char *uri,
                     struct loaded *object)
{
    __typeof__(walk->loader.hsa_ven_amd_loader_loaded_code_object_get_info) get =
        walk->loader.hsa_ven_amd_loader_loaded_code_object_get_info;
    uint32_t storage = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE;
    const void *file = NULL;
    size_t bytes = 0;

    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE, &storage);
    if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY) {
        uint64_t base = 0, size = 0;
        get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE, &base);
        get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE, &size);
        file = (const void *)(uintptr_t)base;
        bytes = size;
    } else if (!map_uri(uri, object, &file, &bytes)) {
        return;
    }
    object->readable = file && kr_code_elf_read(file, bytes, &object->elf, add_range, object);
    if (!object->readable)
        return;
    const void *metadata;
    size_t metadata_bytes;
    while (kr_code_elf_metadata(&object->elf, &metadata, &metadata_bytes))
        kr_metadata_kernels(metadata, metadata_bytes, describe, object);
    if (object->kernel_count > 0)
        qsort(object->kernels, object->kernel_count, sizeof(*object->kernels), by_symbol);
}

static hsa_status_t visit_object(hsa_executable_t executable, hsa_loaded_code_object_t handle, void *data)
{
    struct walk *walk = data;
    __typeof__(walk->loader.hsa_ven_amd_loader_loaded_code_object_get_info) get =
        walk->loader.hsa_ven_amd_loader_loaded_code_object_get_info;
    uint32_t kind = 0, length = 0;
    hsa_agent_t agent = {0};

    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND, &kind);
    if (kind != HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT)
        return HSA_STATUS_SUCCESS;
    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT, &agent);
    struct kr_hsa_agent *owner = kr_hsa_agent_of(agent);
    if (!owner)
        return HSA_STATUS_SUCCESS;

    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, &length);
    struct loaded *object = calloc(1, sizeof(*object));
    char *uri = calloc(1, (size_t)length + 1);
    if (!object || !uri) {
        free(object);
        free(uri);
        kr_hsa_blind(owner, KREPLAY_REASON_UNTRACKED_MEMORY,
                     "out of memory, a code object cannot be looked at");
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri);
    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, &object->base);
    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE, &object->bytes);
    get(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA, &object->delta);
    object->agent = owner;
    object->executable = executable;
    object->id = kr_engine_new_id(kr_hsa.engine, KR_ID_CODE_OBJECT);
    object->next = walk->objects;
    walk->objects = object;

    const kreplay_code_object info = {
        .size = sizeof(info),
        .code_object_id = object->id,
        .agent_id = owner->id,
        .uri = uri,
        .load_base = object->base,
        .load_bytes = object->bytes,
        .load_delta = object->delta,
    };
    kr_engine_code_object(kr_hsa.engine, &info);
    read_elf(walk, handle, uri, object);
    if (!object->readable) {
        // Where its variables are is not known, and kernels of others may have their addresses.
        kr_engine_message(
            kr_hsa.engine,
            "code object %s cannot be read: its kernels run once, and nothing is replayed on GPU "
            "%u while it is loaded",
            uri, owner->id);
        add_memory(object, (void *)(uintptr_t)object->base, object->bytes, KR_MEMORY_UNTRACKED);
    }
    free(uri);
    return HSA_STATUS_SUCCESS;
}

static void add_kernel(struct kr_hsa_kernel *kernel, const struct loaded *object,
                       const struct kr_kernel_metadata *m)
{
    const kreplay_kernel info = {
        .size = sizeof(info),
        .kernel_id = kernel->kernel_id,
        .code_object_id = kernel->code_object_id,
        .agent_id = object->agent->id,
        .name = kernel->name,
        .kernarg_bytes = kernel->kernarg_bytes,
        .group_segment_bytes = kernel->group_segment_bytes,
        .private_segment_bytes = kernel->private_segment_bytes,
        .arch_vgprs = m->vgprs,
        .accum_vgprs = m->agprs,
        .sgprs = m->sgprs,
    };
    kr_engine_kernel(kr_hsa.engine, &info);
    pthread_rwlock_wrlock(&kernels_lock);
    struct kr_hsa_kernel **head = &kernels[bucket(kernel->object)];
    kernel->next = *head;
    *head = kernel;
    pthread_rwlock_unlock(&kernels_lock);
}

static hsa_status_t visit_symbol(hsa_executable_t executable, hsa_agent_t agent,
                                 hsa_executable_symbol_t symbol, void *data)
{
    const struct walk *walk = data;
    __typeof__(&hsa_executable_symbol_get_info) get = kr_hsa.api.hsa_executable_symbol_get_info;
    hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
    uint64_t address = 0;
    uint32_t length = 0;
    (void)agent;

    get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
    if (kind != HSA_SYMBOL_KIND_KERNEL)
        return HSA_STATUS_SUCCESS;
    get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &address);
    get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
    const struct loaded *object = walk->objects;
    while (object && (address < object->base || address - object->base >= object->bytes))
        object = object->next;
    if (!object)
        return HSA_STATUS_SUCCESS;

    struct kr_hsa_kernel *kernel = calloc(1, sizeof(*kernel));
    char *name = calloc(1, (size_t)length + 1);
    if (!kernel || !name) {
        free(kernel);
        free(name);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
    kernel->object = address;
    kernel->executable = executable;
    kernel->kernel_id = kr_engine_new_id(kr_hsa.engine, KR_ID_KERNEL);
    kernel->code_object_id = object->id;
    kernel->agent_id = object->agent->id;
    kernel->name = name;
    get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &kernel->kernarg_bytes);
    get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel->group_segment_bytes);
    get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &kernel->private_segment_bytes);

    // A kernel without a description may do anything.
    const struct kr_kernel_metadata key = {.symbol = name, .symbol_length = strlen(name)}, *found = NULL;
    if (object->kernel_count > 0)
        found = bsearch(&key, object->kernels, object->kernel_count, sizeof(key), by_symbol);
    bool declined = kr_hsa.bounds.decline_hostcall != 0;
    if (!found || (found->talks_to_host && declined))
        kernel->unsafe = KREPLAY_REASON_UNSAFE_KERNEL;
    else if (object->elf.managed)
        kernel->unsafe = KREPLAY_REASON_HOST_MEMORY;

    if (found)
        kernel->read_only_words = found->read_only_words | (declined ? 0 : found->host_words);
    size_t n = key.symbol_length;
    if (n > 3 && strcmp(name + n - 3, ".kd") == 0)
        name[n - 3] = '\0';
    add_kernel(kernel, object, found ? found : &key);
    return HSA_STATUS_SUCCESS;
}

void kr_hsa_executable_added(hsa_executable_t executable)
{
    struct walk walk = {.executable = executable};
    if (kr_hsa.api.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(walk.loader),
                                                        &walk.loader) != HSA_STATUS_SUCCESS ||
        !walk.loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects) {
        kr_engine_message(kr_hsa.engine,
                          "the runtime has no loader extension: kernels stay unknown and run once");
        return;
    }
    walk.loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, visit_object, &walk);
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++)
        kr_hsa.api.hsa_executable_iterate_agent_symbols(executable, kr_hsa.agents[i].handle, visit_symbol,
                                                        &walk);
    while (walk.objects) {
        struct loaded *object = walk.objects;
        walk.objects = object->next;
        if (object->mapping)
            munmap(object->mapping, object->mapping_bytes);
        free(object->kernels);
        free(object);
    }
}

void kr_hsa_executable_removed(hsa_executable_t executable)
{
    pthread_mutex_lock(&ranges_lock);
    for (struct module_range **at = &ranges; *at;) {
        struct module_range *range = *at;
        if (range->executable.handle != executable.handle) {
            at = &range->next;
            continue;
        }
        kr_inventory_remove(kr_hsa.engine, range->base);
        *at = range->next;
        free(range);
    }
    pthread_mutex_unlock(&ranges_lock);

    // The address may be used again by another kernel.
    pthread_rwlock_wrlock(&kernels_lock);
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct kr_hsa_kernel **at = &kernels[i]; *at;) {
            struct kr_hsa_kernel *kernel = *at;
            if (kernel->executable.handle != executable.handle) {
                at = &kernel->next;
                continue;
            }
            *at = kernel->next;
            kernel->next = retired;
            retired = kernel;
        }
    }
    pthread_rwlock_unlock(&kernels_lock);
}
