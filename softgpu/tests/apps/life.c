// SPDX-License-Identifier: MIT
// The life of the runtime: started and shut down several times, with work each time; a queue destroyed while its
// kernel runs for ever and packets wait behind it; a fork whose child cannot use the GPU and does not disturb it.
// Argument: a code object with the kernels "add" and "spin".
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITEMS 256u

#define HSA(call)                                                                                            \
    do {                                                                                                     \
        hsa_status_t status_ = (call);                                                                       \
        if (status_ != HSA_STATUS_SUCCESS) {                                                                 \
            fprintf(stderr, "%s:%d: %s: status 0x%x\n", __FILE__, __LINE__, #call, (unsigned)status_);       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

struct machine {
    hsa_agent_t gpu, cpu;
    hsa_amd_memory_pool_t host;
    hsa_executable_t code;
};

static hsa_status_t find_agent(hsa_agent_t agent, void *data)
{
    struct machine *m = data;
    hsa_device_type_t type;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    *(type == HSA_DEVICE_TYPE_GPU ? &m->gpu : &m->cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct machine *m = data;
    uint32_t flags = 0;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        m->host = pool;
    return HSA_STATUS_SUCCESS;
}

static void start(struct machine *m, const char *path)
{
    hsa_code_object_reader_t reader;
    memset(m, 0, sizeof(*m));
    HSA(hsa_init());
    HSA(hsa_iterate_agents(find_agent, m));
    HSA(hsa_amd_agent_iterate_memory_pools(m->cpu, find_pool, m));
    int file = open(path, O_RDONLY);
    EXPECT(file >= 0);
    HSA(hsa_code_object_reader_create_from_file(file, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &m->code));
    HSA(hsa_executable_load_agent_code_object(m->code, m->gpu, reader, NULL, NULL));
    HSA(hsa_executable_freeze(m->code, NULL));
    HSA(hsa_code_object_reader_destroy(reader));
    close(file);
}

static void *shared(const struct machine *m, size_t bytes)
{
    void *p;
    HSA(hsa_amd_memory_pool_allocate(m->host, bytes, 0, &p));
    HSA(hsa_amd_agents_allow_access(1, &m->gpu, NULL, p));
    memset(p, 0, bytes);
    return p;
}

static void dispatch(const struct machine *m, hsa_queue_t *queue, const char *name, const void *arguments,
                     hsa_signal_t done)
{
    hsa_executable_symbol_t symbol;
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = 64,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = ITEMS,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .kernarg_address = (void *)(uintptr_t)arguments,
                                           .completion_signal = done};
    HSA(hsa_executable_get_symbol_by_name(m->code, name, &m->gpu, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                       &packet.kernel_object));
    uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    hsa_kernel_dispatch_packet_t *slot =
        (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    memcpy((char *)slot + 4, (char *)&packet + 4, sizeof(packet) - 4);
    uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1u << HSA_PACKET_HEADER_BARRIER |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE | 1u << 16;
    __atomic_store_n((uint32_t *)slot, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

struct arguments {
    unsigned *p;
    unsigned n;
};

static void work(const struct machine *m)
{
    hsa_queue_t *queue;
    hsa_signal_t done;
    struct arguments *arguments = shared(m, 4096);
    arguments->p = shared(m, ITEMS * sizeof(unsigned));
    arguments->n = ITEMS;
    HSA(hsa_queue_create(m->gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    HSA(hsa_signal_create(1, 0, NULL, &done));
    dispatch(m, queue, "add.kd", arguments, done);
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED))
        ;
    for (unsigned i = 0; i < ITEMS; i++)
        EXPECT(arguments->p[i] == i + 1);
    HSA(hsa_signal_destroy(done));
    HSA(hsa_queue_destroy(queue));
    HSA(hsa_amd_memory_pool_free(arguments->p));
    HSA(hsa_amd_memory_pool_free(arguments));
}

// p[0] becomes 1 when the kernel runs. It never ends by itself.
static void destroy_busy(const struct machine *m)
{
    hsa_queue_t *queue;
    hsa_signal_t done;
    struct arguments *arguments = shared(m, 4096);
    arguments->p = shared(m, ITEMS * sizeof(unsigned));
    arguments->n = ITEMS;
    HSA(hsa_queue_create(m->gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    HSA(hsa_signal_create(2, 0, NULL, &done));
    dispatch(m, queue, "spin.kd", arguments, done);
    dispatch(m, queue, "add.kd", arguments, done);
    while (!__atomic_load_n(arguments->p, __ATOMIC_ACQUIRE))
        usleep(1000);
    HSA(hsa_queue_destroy(queue));
    EXPECT(hsa_signal_load_scacquire(done) == 2);
    EXPECT(arguments->p[1] == 0);
    HSA(hsa_signal_destroy(done));
    HSA(hsa_amd_memory_pool_free(arguments->p));
    HSA(hsa_amd_memory_pool_free(arguments));
}

static void fork_idle(const struct machine *m)
{
    int status = 0;
    pid_t child = fork();
    EXPECT(child >= 0);
    if (!child)
        _exit(7);
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    work(m);
    child = fork();
    EXPECT(child >= 0);
    if (!child) {
        hsa_queue_t *queue;
        hsa_status_t rc =
            hsa_queue_create(m->gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue);
        _exit(rc == HSA_STATUS_SUCCESS ? 1 : 0);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    work(m);
}

int main(int argc, char **argv)
{
    struct machine m;
    if (argc < 2)
        return 2;
    for (int round = 0; round < 4; round++) {
        start(&m, argv[1]);
        work(&m);
        destroy_busy(&m);
        work(&m);
        HSA(hsa_executable_destroy(m.code));
        HSA(hsa_shut_down());
    }
    start(&m, argv[1]);
    fork_idle(&m);
    HSA(hsa_shut_down());
    puts("life: all right");
    return 0;
}
