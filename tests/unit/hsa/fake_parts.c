// SPDX-License-Identifier: MIT
// Agents, memory, code objects and counters of the fake runtime. The counter library counts kernel runs
// between start and stop, on each of two "shader engines".
#include "fake_parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// In C this header defines an object of external linkage; kreplay's own copy is enough.
#define HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE fake_legacy_packet_size
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <hsa/hsa_ven_amd_loader.h>

#include "code_object.h"
#include "fake_runtime.h"

const hsa_amd_memory_pool_t fake_host_pool = {0x1001}, fake_kernarg_pool = {0x1002},
                            fake_device_pool = {0x2001};

// ---- Agents and pools
static hsa_status_t iterate_agents(hsa_status_t (*visit)(hsa_agent_t agent, void *data), void *data)
{
    hsa_status_t status = visit(fake_cpu, data);
    if (status == HSA_STATUS_SUCCESS)
        status = visit(fake_gpu, data);
    return status == HSA_STATUS_SUCCESS && fake.two_gpus ? visit(fake_second_gpu, data) : status;
}

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    bool gpu = agent.handle != fake_cpu.handle;
    switch ((uint32_t)attribute) {
    case HSA_AGENT_INFO_DEVICE:
        *(hsa_device_type_t *)value = gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
        break;
    case HSA_AGENT_INFO_NAME:
        strcpy(value, gpu ? "gfx90a" : "cpu");
        break;
    case HSA_AGENT_INFO_VENDOR_NAME:
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
        strcpy(value, "fake");
        break;
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
        *(uint32_t *)value = 1u << 17;
        break;
    default:
        *(uint32_t *)value = 1;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t system_info(hsa_system_info_t attribute, void *value)
{
    if (attribute != HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)
        return HSA_STATUS_ERROR;
    *(uint64_t *)value = 1000000000;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_pools(hsa_agent_t agent,
                                  hsa_status_t (*visit)(hsa_amd_memory_pool_t pool, void *data), void *data)
{
    if (agent.handle == fake_gpu.handle)
        return visit(fake_device_pool, data);
    if (agent.handle == fake_second_gpu.handle)
        return HSA_STATUS_SUCCESS;
    hsa_status_t status = visit(fake_host_pool, data);
    return status == HSA_STATUS_SUCCESS ? visit(fake_kernarg_pool, data) : status;
}

static hsa_status_t iterate_regions(hsa_agent_t agent, hsa_status_t (*visit)(hsa_region_t region, void *data),
                                    void *data)
{
    (void)agent, (void)visit, (void)data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute, void *value)
{
    switch ((uint32_t)attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
        *(hsa_amd_segment_t *)value = HSA_AMD_SEGMENT_GLOBAL;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
        *(uint32_t *)value =
            pool.handle == fake_device_pool.handle ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
            : pool.handle == fake_kernarg_pool.handle
                ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT
                : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
        *(size_t *)value = (size_t)1 << 30;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
        *(bool *)value = true;
        break;
    default:
        return HSA_STATUS_ERROR;
    }
    return HSA_STATUS_SUCCESS;
}

// ---- Memory: 64 bytes in front of each allocation say whose it is.
struct front {
    uint64_t pool;
    size_t bytes;
    char pad[48];
};

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags, void **out)
{
    (void)flags;
    struct front *f = aligned_alloc(64, sizeof(*f) + (bytes + 63) / 64 * 64);
    f->pool = pool.handle;
    f->bytes = bytes;
    *out = f + 1;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_free(void *base)
{
    free((struct front *)base - 1);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pointer_info(const void *address, hsa_amd_pointer_info_t *info, void *(*alloc)(size_t),
                                 uint32_t *count, hsa_agent_t **accessible)
{
    (void)address, (void)alloc, (void)count, (void)accessible;
    info->type = HSA_EXT_POINTER_TYPE_UNKNOWN;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                                 const void *base)
{
    (void)count, (void)agents, (void)flags, (void)base;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t ipc_attach(const hsa_amd_ipc_memory_t *handle, size_t bytes, uint32_t count,
                               const hsa_agent_t *agents, void **out)
{
    (void)handle, (void)count, (void)agents;
    return pool_allocate(fake_device_pool, bytes, 0, out);
}

static hsa_status_t ipc_create(void *base, size_t bytes, hsa_amd_ipc_memory_t *handle)
{
    (void)base, (void)bytes, (void)handle;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t export_dmabuf(const void *address, size_t bytes, int *dmabuf, uint64_t *offset)
{
    (void)address, (void)bytes, (void)dmabuf, (void)offset;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t memory_copy(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
    return HSA_STATUS_SUCCESS;
}

struct copying {
    void *dst;
    const void *src;
    size_t bytes;
    hsa_signal_t signal;
};

static void copy_now(const struct copying *c)
{
    memcpy(c->dst, c->src, c->bytes);
    __atomic_sub_fetch((int64_t *)(uintptr_t)(c->signal.handle + 8), 1, __ATOMIC_ACQ_REL);
}

static void *copy_late(void *arg)
{
    while (fake.slow_copies)
        usleep(100);
    copy_now(arg);
    free(arg);
    return NULL;
}

static hsa_status_t async_copy(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
                               size_t bytes, uint32_t dep_count, const hsa_signal_t *deps,
                               hsa_signal_t signal)
{
    (void)dst_agent, (void)src_agent, (void)deps;
    if (dep_count > 0)
        return HSA_STATUS_ERROR; // kreplay waits for them itself
    fake.async_copies++;
    struct copying copying = {dst, src, bytes, signal};
    if (!fake.slow_copies) {
        copy_now(&copying);
        return HSA_STATUS_SUCCESS;
    }
    pthread_t thread;
    struct copying *late = malloc(sizeof(*late));
    *late = copying;
    pthread_create(&thread, NULL, copy_late, late);
    pthread_detach(thread);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t memory_lock(void *host, size_t bytes, hsa_agent_t *agents, int count, void **device)
{
    (void)bytes, (void)agents, (void)count;
    *device = host;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t memory_unlock(void *host)
{
    (void)host;
    return HSA_STATUS_SUCCESS;
}

// ---- The executable
static struct {
    struct fake_kernel_info kernels[FAKE_MAX_KERNELS];
    char text[FAKE_MAX_KERNELS][64]; // the "code": kernel objects are addresses in here
    unsigned count;
    struct bytes file;
    void *data;
} image;

uint64_t fake_kernel_object(unsigned index)
{
    return (uint64_t)(uintptr_t)image.text[index];
}

void fake_run_kernel(uint64_t object, void *arguments)
{
    image.kernels[(object - fake_kernel_object(0)) / sizeof(image.text[0])].function(arguments);
}

static hsa_status_t freeze(hsa_executable_t executable, const char *options)
{
    (void)executable, (void)options;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_symbols(hsa_executable_t executable, hsa_agent_t agent,
                                    hsa_status_t (*visit)(hsa_executable_t executable, hsa_agent_t agent,
                                                          hsa_executable_symbol_t symbol, void *data),
                                    void *data)
{
    for (unsigned i = 0; i < image.count && agent.handle == fake_gpu.handle; i++)
        visit(executable, agent, (hsa_executable_symbol_t){i + 1}, data);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute,
                                void *value)
{
    const struct fake_kernel_info *kernel = &image.kernels[symbol.handle - 1];
    switch ((uint32_t)attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
        *(hsa_symbol_kind_t *)value = HSA_SYMBOL_KIND_KERNEL;
        break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        *(uint64_t *)value = fake_kernel_object((unsigned)symbol.handle - 1);
        break;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
        *(uint32_t *)value = (uint32_t)strlen(kernel->name);
        break;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
        memcpy(value, kernel->name, strlen(kernel->name));
        break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
        *(uint32_t *)value = kernel->kernarg_bytes;
        break;
    default:
        *(uint32_t *)value = 0;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_objects(hsa_executable_t executable,
                                    hsa_status_t (*visit)(hsa_executable_t executable,
                                                          hsa_loaded_code_object_t object, void *data),
                                    void *data)
{
    return visit(executable, (hsa_loaded_code_object_t){1}, data);
}

static hsa_status_t object_info(hsa_loaded_code_object_t object,
                                hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value)
{
    static const char uri[] = "memory://1#offset=0x1000&size=100";
    (void)object;
    switch ((uint32_t)attribute) {
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
        *(uint32_t *)value = HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
        *(hsa_agent_t *)value = fake_gpu;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
        *(uint32_t *)value = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
        *(uint64_t *)value = (uint64_t)(uintptr_t)image.file.data;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
        *(uint64_t *)value = image.file.size;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA: // .data of the file is at 0x2000
        *(int64_t *)value = (int64_t)(intptr_t)image.data - 0x2000;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
        *(uint64_t *)value = fake_kernel_object(0);
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
        *(uint64_t *)value = sizeof(image.text);
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
        *(uint32_t *)value = sizeof(uri) - 1;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
        memcpy(value, uri, sizeof(uri) - 1);
        break;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return HSA_STATUS_SUCCESS;
}

void fake_load(const struct fake_kernel_info *kernels, unsigned count, void *data)
{
    static const struct test_argument plain[] = {{"global_buffer", NULL, 0, 8}};
    static const struct test_argument printing[] = {{"global_buffer", NULL, 0, 8},
                                                    {"hidden_hostcall_buffer", NULL, 8, 8}};
    struct test_kernel described[FAKE_MAX_KERNELS];
    struct bytes note;
    for (unsigned i = 0; i < count; i++) {
        image.kernels[i] = kernels[i];
        described[i] = kernels[i].prints ? (struct test_kernel){kernels[i].name, printing, 2}
                                         : (struct test_kernel){kernels[i].name, plain, 1};
    }
    image.count = count;
    image.data = data;
    make_metadata(&note, described, count);
    make_code_object(&image.file, &note, 1, "variable", true);
    fake_program_api().hsa_executable_freeze((hsa_executable_t){7}, NULL);
}

// ---- Counters
static struct {
    _Atomic bool running;
    unsigned at_start;
} counting;

enum { START = 1, READ, STOP };

static hsa_status_t validate(hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event, bool *result)
{
    (void)agent;
    *result = event->block_index == 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_info(const hsa_ven_amd_aqlprofile_profile_t *profile,
                             hsa_ven_amd_aqlprofile_info_type_t attribute, void *value)
{
    (void)profile;
    if (attribute == HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID) {
        hsa_ven_amd_aqlprofile_id_query_t *query = value;
        query->id = strcmp(query->name, "SQ") == 0 ? HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ
                                                   : HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM;
        query->instance_count = 1;
        return HSA_STATUS_SUCCESS;
    }
    *(uint32_t *)value = 4096;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t packet_of(const hsa_ven_amd_aqlprofile_profile_t *profile,
                              hsa_ext_amd_aql_pm4_packet_t *packet, uint16_t what)
{
    memset(packet, 0, sizeof(*packet));
    packet->pm4_command[0] = what;
    memcpy(&packet->pm4_command[4], &profile->output_buffer.ptr, sizeof(void *));
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t profile_start(hsa_ven_amd_aqlprofile_profile_t *profile,
                                  hsa_ext_amd_aql_pm4_packet_t *packet)
{
    return packet_of(profile, packet, START);
}

static hsa_status_t profile_read(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                 hsa_ext_amd_aql_pm4_packet_t *packet)
{
    return packet_of(profile, packet, READ);
}

static hsa_status_t profile_stop(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                 hsa_ext_amd_aql_pm4_packet_t *packet)
{
    return packet_of(profile, packet, STOP);
}

void fake_run_vendor(const void *arg)
{
    const hsa_ext_amd_aql_pm4_packet_t *packet = arg;
    uint64_t *output;
    memcpy(&output, &packet->pm4_command[4], sizeof(output));
    switch (packet->pm4_command[0]) {
    case START:
        counting.at_start = fake.kernel_runs;
        fake.counter_starts++;
        break;
    case READ:
        output[0] = fake.kernel_runs - counting.at_start;
        break;
    case STOP:
        fake.counter_stops++;
        break;
    default:
        break;
    }
}

static hsa_status_t iterate_data(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                 hsa_ven_amd_aqlprofile_data_callback_t visit, void *data)
{
    const uint64_t *output = profile->output_buffer.ptr;
    for (uint32_t i = 0; i < profile->event_count; i++)
        for (uint32_t engine = 0; engine < 2; engine++) {
            hsa_ven_amd_aqlprofile_info_data_t info = {.sample_id = engine};
            info.pmc_data.event = profile->events[i];
            info.pmc_data.result = output[0] + 10 * engine;
            visit(HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &info, data);
        }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t extension_table(uint16_t extension, uint16_t version, size_t bytes, void *table)
{
    (void)version;
    if (extension == HSA_EXTENSION_AMD_LOADER) {
        const hsa_ven_amd_loader_1_01_pfn_t loader = {
            .hsa_ven_amd_loader_executable_iterate_loaded_code_objects = iterate_objects,
            .hsa_ven_amd_loader_loaded_code_object_get_info = object_info,
        };
        memcpy(table, &loader, bytes < sizeof(loader) ? bytes : sizeof(loader));
        return HSA_STATUS_SUCCESS;
    }
    if (extension != HSA_EXTENSION_AMD_AQLPROFILE || fake.no_counter_library)
        return HSA_STATUS_ERROR;
    const hsa_ven_amd_aqlprofile_pfn_t library = {
        .hsa_ven_amd_aqlprofile_validate_event = validate,
        .hsa_ven_amd_aqlprofile_start = profile_start,
        .hsa_ven_amd_aqlprofile_stop = profile_stop,
        .hsa_ven_amd_aqlprofile_read = profile_read,
        .hsa_ven_amd_aqlprofile_get_info = get_info,
        .hsa_ven_amd_aqlprofile_iterate_data = iterate_data,
    };
    memcpy(table, &library, bytes < sizeof(library) ? bytes : sizeof(library));
    return HSA_STATUS_SUCCESS;
}

void fake_parts_install(void (*set)(enum kr_hsa_function function, void *address))
{
    set(KR_FN_hsa_iterate_agents, (void *)iterate_agents);
    set(KR_FN_hsa_agent_get_info, (void *)agent_info);
    set(KR_FN_hsa_system_get_info, (void *)system_info);
    set(KR_FN_hsa_amd_agent_iterate_memory_pools, (void *)iterate_pools);
    set(KR_FN_hsa_agent_iterate_regions, (void *)iterate_regions);
    set(KR_FN_hsa_amd_memory_pool_get_info, (void *)pool_info);
    set(KR_FN_hsa_amd_memory_pool_allocate, (void *)pool_allocate);
    set(KR_FN_hsa_amd_memory_pool_free, (void *)pool_free);
    set(KR_FN_hsa_amd_ipc_memory_create, (void *)ipc_create);
    set(KR_FN_hsa_amd_portable_export_dmabuf, (void *)export_dmabuf);
    set(KR_FN_hsa_amd_ipc_memory_attach, (void *)ipc_attach);
    set(KR_FN_hsa_amd_ipc_memory_detach, (void *)pool_free);
    set(KR_FN_hsa_amd_pointer_info, (void *)pointer_info);
    set(KR_FN_hsa_amd_agents_allow_access, (void *)allow_access);
    set(KR_FN_hsa_memory_copy, (void *)memory_copy);
    set(KR_FN_hsa_amd_memory_async_copy, (void *)async_copy);
    set(KR_FN_hsa_amd_memory_lock, (void *)memory_lock);
    set(KR_FN_hsa_amd_memory_unlock, (void *)memory_unlock);
    set(KR_FN_hsa_executable_freeze, (void *)freeze);
    set(KR_FN_hsa_executable_iterate_agent_symbols, (void *)iterate_symbols);
    set(KR_FN_hsa_executable_symbol_get_info, (void *)symbol_info);
    set(KR_FN_hsa_system_get_major_extension_table, (void *)extension_table);
}
