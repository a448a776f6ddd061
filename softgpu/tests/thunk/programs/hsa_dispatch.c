// SPDX-License-Identifier: MIT
// A plain HSA program: pools, code object, queue, packets and signals, without HIP.
//   hsa_dispatch KERNELS.hsaco add      runs a kernel many times around a small ring; checks data and times
//   hsa_dispatch KERNELS.hsaco illegal  expects the queue's error callback to say "illegal instruction"
//   hsa_dispatch KERNELS.hsaco wild     faults on an address; the runtime ends the process
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITEMS    1000u
#define LAUNCHES 200u

#define HSA(call)                                                                                            \
    do {                                                                                                     \
        hsa_status_t status_ = (call);                                                                       \
        if (status_ != HSA_STATUS_SUCCESS) {                                                                 \
            fprintf(stderr, "%s:%d: %s: status 0x%x\n", __FILE__, __LINE__, #call, (unsigned)status_);       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

struct machine {
    hsa_agent_t cpu, gpu;
    hsa_amd_memory_pool_t vram, kernarg;
};

struct kernel {
    uint64_t object;
    uint32_t kernarg_bytes, group_bytes, private_bytes;
};

static atomic_int queue_error;

static hsa_status_t find_agent(hsa_agent_t agent, void *data)
{
    struct machine *m = data;
    hsa_device_type_t type;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU && !m->cpu.handle)
        m->cpu = agent;
    if (type == HSA_DEVICE_TYPE_GPU && !m->gpu.handle)
        m->gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_vram(hsa_amd_memory_pool_t pool, void *data)
{
    uint32_t flags = 0;
    hsa_amd_segment_t segment;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
        ((struct machine *)data)->vram = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_kernarg(hsa_amd_memory_pool_t pool, void *data)
{
    uint32_t flags = 0;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        ((struct machine *)data)->kernarg = pool;
    return HSA_STATUS_SUCCESS;
}

static struct kernel load(const struct machine *m, const char *path, const char *symbol_name)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    struct kernel k = {0};
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    HSA(hsa_code_object_reader_create_from_file(fd, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                  &executable));
    HSA(hsa_executable_load_agent_code_object(executable, m->gpu, reader, NULL, NULL));
    HSA(hsa_executable_freeze(executable, NULL));
    HSA(hsa_executable_get_symbol_by_name(executable, symbol_name, &m->gpu, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
                                       &k.kernarg_bytes));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
                                       &k.group_bytes));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                       &k.private_bytes));
    close(fd);
    return k;
}

static void on_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    (void)data;
    queue_error = (int)status;
}

static void submit(hsa_queue_t *queue, const struct kernel *k, void *kernarg, hsa_signal_t done)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        sched_yield();
    hsa_kernel_dispatch_packet_t *p =
        (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    memset((char *)p + 4, 0, sizeof(*p) - 4);
    p->workgroup_size_x = 64;
    p->workgroup_size_y = p->workgroup_size_z = 1;
    p->grid_size_x = (ITEMS + 63) / 64 * 64;
    p->grid_size_y = p->grid_size_z = 1;
    p->group_segment_size = k->group_bytes;
    p->private_segment_size = k->private_bytes;
    p->kernel_object = k->object;
    p->kernarg_address = kernarg;
    p->completion_signal = done;
    uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    uint32_t setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    __atomic_store_n((uint32_t *)p, header | setup << 16, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

// The last dispatch's times must lie inside the program's own, by the clock that the runtime offers.
static int times_are_right(const struct machine *m, hsa_signal_t done, uint64_t before, uint64_t after)
{
    hsa_amd_profiling_dispatch_time_t t;
    HSA(hsa_amd_profiling_get_dispatch_time(m->gpu, done, &t));
    const uint64_t slack = 1000000; // ticks of 1 ns: the two clocks are matched by interpolation
    if (t.end > t.start && t.start + slack >= before && t.end <= after + slack)
        return 1;
    fprintf(stderr, "dispatch %lu..%lu outside of %lu..%lu\n", t.start, t.end, before, after);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: hsa_dispatch KERNELS.hsaco add|illegal|wild\n");
        return 2;
    }
    const char *mode = argv[2];
    char symbol[64];
    snprintf(symbol, sizeof(symbol), "%s.kd", strcmp(mode, "add") ? mode : "add_one");

    struct machine m = {0};
    HSA(hsa_init());
    HSA(hsa_iterate_agents(find_agent, &m));
    HSA(hsa_amd_agent_iterate_memory_pools(m.gpu, find_vram, &m));
    HSA(hsa_amd_agent_iterate_memory_pools(m.cpu, find_kernarg, &m));
    struct kernel k = load(&m, argv[1], symbol);

    hsa_queue_t *queue = NULL;
    hsa_signal_t done;
    HSA(hsa_queue_create(m.gpu, 64, HSA_QUEUE_TYPE_MULTI, on_queue_error, NULL, UINT32_MAX, UINT32_MAX,
                         &queue));
    HSA(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    HSA(hsa_signal_create(LAUNCHES, 0, NULL, &done));

    int *data = NULL, host[ITEMS];
    struct {
        int *p;
        int n;
    } *kernarg = NULL;
    HSA(hsa_amd_memory_pool_allocate(m.vram, sizeof(host), 0, (void **)&data));
    HSA(hsa_amd_memory_pool_allocate(m.kernarg, 4096, 0, (void **)&kernarg));
    HSA(hsa_amd_agents_allow_access(1, &m.gpu, NULL, kernarg));
    for (unsigned i = 0; i < ITEMS; i++)
        host[i] = (int)i;
    HSA(hsa_memory_copy(data, host, sizeof(host)));
    kernarg->p = data;
    kernarg->n = ITEMS;

    uint64_t before = 0, after = 0;
    HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before));
    unsigned launches = strcmp(mode, "add") ? 1 : LAUNCHES;
    for (unsigned i = 0; i < launches; i++)
        submit(queue, &k, kernarg, done);
    if (launches == 1) {
        for (unsigned i = 0; i < 60000 && !queue_error; i++)
            usleep(1000);
        if (queue_error == HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION)
            puts("hsa_dispatch: the queue reported an illegal instruction");
        return queue_error == HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION ? 0 : 1;
    }
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after));
    if (!times_are_right(&m, done, before, after))
        return 1;
    HSA(hsa_memory_copy(host, data, sizeof(host)));
    for (unsigned i = 0; i < ITEMS; i++) {
        if (host[i] != (int)(i + LAUNCHES)) {
            fprintf(stderr, "item %u is %d, not %u\n", i, host[i], i + LAUNCHES);
            return 1;
        }
    }
    HSA(hsa_queue_destroy(queue));
    HSA(hsa_signal_destroy(done));
    HSA(hsa_amd_memory_pool_free(data));
    HSA(hsa_amd_memory_pool_free(kernarg));
    HSA(hsa_shut_down());
    puts("hsa_dispatch: all right");
    return 0;
}
