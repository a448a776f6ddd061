// SPDX-License-Identifier: MIT
// Queues and signals of the fake runtime, and its table.
#include "fake_runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hsa/amd_hsa_signal.h>

#include "engine/clock.h"
#include "fake_parts.h"

struct fake_runtime fake;
const hsa_agent_t fake_cpu = {0xc0}, fake_gpu = {0x90}, fake_second_gpu = {0x91};

// ---- Signals
static int64_t *word(hsa_signal_t signal)
{
    return (int64_t *)&((amd_signal_t *)(uintptr_t)signal.handle)->value;
}

static hsa_signal_value_t load(hsa_signal_t signal)
{
    return __atomic_load_n(word(signal), __ATOMIC_ACQUIRE);
}

static void store(hsa_signal_t signal, hsa_signal_value_t value)
{
    __atomic_store_n(word(signal), value, __ATOMIC_RELEASE);
}

static void subtract(hsa_signal_t signal, hsa_signal_value_t value)
{
    __atomic_sub_fetch(word(signal), value, __ATOMIC_ACQ_REL);
}

static hsa_status_t signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                  hsa_signal_t *signal)
{
    (void)count, (void)consumers;
    amd_signal_t *s = aligned_alloc(64, sizeof(*s));
    memset(s, 0, sizeof(*s));
    s->value = value;
    signal->handle = (uint64_t)(uintptr_t)s;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t amd_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                      uint64_t attributes, hsa_signal_t *signal)
{
    (void)attributes;
    return signal_create(value, count, consumers, signal);
}

static hsa_status_t signal_destroy(hsa_signal_t signal)
{
    free((void *)(uintptr_t)signal.handle);
    return HSA_STATUS_SUCCESS;
}

static void nap(void)
{
    const struct timespec t = {0, 20000};
    nanosleep(&t, NULL);
}

static hsa_signal_value_t wait_signal(hsa_signal_t signal, hsa_signal_condition_t condition,
                                      hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t state)
{
    uint64_t begin = kr_clock_ns();
    (void)condition; // only "less than" is used
    fake.active_waits += state == HSA_WAIT_STATE_ACTIVE;
    while (load(signal) >= value && kr_clock_ns() - begin < timeout)
        nap();
    return load(signal);
}

int64_t fake_value(hsa_signal_t signal)
{
    return load(signal);
}

// The program's signals and memory end with the program: they are no leaks.
void *fake_keep(void *object)
{
    static _Atomic(void *) kept[1024];
    static _Atomic unsigned count;
    unsigned at = count++;
    if (at < sizeof(kept) / sizeof(kept[0]))
        kept[at] = object;
    return object;
}

hsa_signal_t fake_signal(int64_t value)
{
    hsa_signal_t signal;
    signal_create(value, 0, NULL, &signal);
    fake_keep((void *)(uintptr_t)signal.handle);
    return signal;
}

bool fake_wait_zero(hsa_signal_t signal)
{
    uint64_t begin = kr_clock_ns();
    while (load(signal) != 0 && kr_clock_ns() - begin < UINT64_C(20000000000))
        nap();
    return load(signal) == 0;
}

// ---- Queues
struct queue {
    hsa_queue_t shared; // first: handles are pointers to it
    _Atomic uint64_t read, write;
    _Atomic bool stop, profiled; // dispatches get times only then
    pthread_t thread;
    pthread_mutex_t stopping; // joins the thread once
    bool joined;
    kr_hsa_queue_error_fn error_callback;
    void *error_data;
    pthread_mutex_t submitting; // the runtime calls the handler for one packet at a time
    kr_hsa_intercept_handler handler;
    void *data;
};

static _Thread_local struct queue *writing;
static _Thread_local bool faulted;

// ---- The event thread: a thread a handler, one at a time
static pthread_mutex_t events = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned events_waiting;

struct event {
    void (*handler)(void *arg);
    void *arg;
};

static void *handle(void *arg)
{
    const struct event event = *(struct event *)arg;
    free(arg);
    pthread_mutex_lock(&events);
    event.handler(event.arg);
    fake.handlers_run++;
    events_waiting--;
    pthread_mutex_unlock(&events);
    return NULL;
}

void fake_event(void (*handler)(void *arg), void *arg)
{
    struct event *event = malloc(sizeof(*event));
    pthread_t thread;
    *event = (struct event){handler, arg};
    events_waiting++;
    pthread_create(&thread, NULL, handle, event);
    pthread_detach(thread);
}

void fake_fault(void)
{
    faulted = true;
}

static void report(void *arg)
{
    struct queue *q = arg;
    if (q->error_callback)
        q->error_callback((hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, &q->shared, q->error_data);
}

static void complete(hsa_signal_t signal, uint64_t start, uint64_t end)
{
    if (!signal.handle)
        return;
    amd_signal_t *s = (amd_signal_t *)(uintptr_t)signal.handle;
    if (start > 0) {
        s->start_ts = start;
        s->end_ts = end;
    }
    subtract(signal, 1);
}

static bool wait_for_dependencies(struct queue *q, const hsa_barrier_and_packet_t *packet)
{
    for (unsigned i = 0; i < 5; i++)
        while (packet->dep_signal[i].handle && load(packet->dep_signal[i]) != 0) {
            if (q->stop)
                return false;
            nap();
        }
    return true;
}

// Executes one packet; false if the queue was stopped in it.
static bool execute(struct queue *q, const hsa_kernel_dispatch_packet_t *packet, unsigned type)
{
    uint64_t start = kr_clock_ns();
    switch (type) {
    case HSA_PACKET_TYPE_BARRIER_AND:
        if (!wait_for_dependencies(q, (const hsa_barrier_and_packet_t *)(const void *)packet))
            return false;
        break;
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        fake.kernel_runs++;
        fake_run_kernel(packet->kernel_object, packet->kernarg_address);
        if (faulted) {
            fake_event(report, q);
            return false;
        }
        break;
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        fake_run_vendor(packet);
        break;
    default:
        break;
    }
    bool timed = q->profiled && type == HSA_PACKET_TYPE_KERNEL_DISPATCH;
    complete(packet->completion_signal, timed ? start : 0, timed ? kr_clock_ns() : 0);
    return true;
}

static void *process(void *arg)
{
    struct queue *q = arg;
    while (!q->stop) {
        uint16_t *header =
            (uint16_t *)((char *)q->shared.base_address + (q->read & (q->shared.size - 1)) * 64);
        unsigned type = __atomic_load_n(header, __ATOMIC_ACQUIRE) & 0xff;
        if (type == HSA_PACKET_TYPE_INVALID) {
            nap();
            continue;
        }
        hsa_kernel_dispatch_packet_t packet;
        memcpy(&packet, header, sizeof(packet));
        if (!execute(q, &packet, type))
            break;
        __atomic_store_n(header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
        q->read++;
    }
    return NULL;
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 kr_hsa_queue_error_fn callback, void *data, uint32_t private_bytes,
                                 uint32_t group_bytes, hsa_queue_t **out)
{
    (void)agent, (void)type, (void)private_bytes, (void)group_bytes;
    if (fake.no_queues || size == 0)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    struct queue *q = calloc(1, sizeof(*q));
    q->shared.size = size;
    q->shared.base_address = aligned_alloc(64, (size_t)size * 64);
    q->shared.doorbell_signal = fake_signal(-1);
    for (uint32_t i = 0; i < size; i++)
        *(uint32_t *)(void *)((char *)q->shared.base_address + i * 64) = HSA_PACKET_TYPE_INVALID;
    q->error_callback = callback;
    q->error_data = data;
    pthread_mutex_init(&q->submitting, NULL);
    pthread_mutex_init(&q->stopping, NULL);
    pthread_create(&q->thread, NULL, process, q);
    fake.queues_created++;
    *out = &q->shared;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                     kr_hsa_queue_error_fn callback, void *data, uint32_t private_bytes,
                                     uint32_t group_bytes, hsa_queue_t **out)
{
    if (size > fake.largest_watched)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    return queue_create(agent, size, type, callback, data, private_bytes, group_bytes, out);
}

static void stop(struct queue *q)
{
    pthread_mutex_lock(&q->stopping);
    if (!q->joined) {
        q->stop = true;
        fake.stop_kernels++; // a count: two threads may each stop one
        pthread_join(q->thread, NULL);
        fake.stop_kernels--;
        q->joined = true;
    }
    pthread_mutex_unlock(&q->stopping);
}

static hsa_status_t queue_inactivate(hsa_queue_t *handle)
{
    if (fake.no_stopping) {
        fake.stops_refused++;
        return HSA_STATUS_ERROR;
    }
    stop((struct queue *)handle);
    fake.queues_stopped++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t queue_destroy(hsa_queue_t *handle)
{
    struct queue *q = (struct queue *)handle;
    stop(q);
    while (events_waiting > 0)
        nap();
    pthread_mutex_destroy(&q->stopping);
    signal_destroy(q->shared.doorbell_signal);
    pthread_mutex_destroy(&q->submitting);
    free(q->shared.base_address);
    free(q);
    fake.queues_destroyed++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t intercept_register(hsa_queue_t *handle, kr_hsa_intercept_handler handler, void *data)
{
    struct queue *q = (struct queue *)handle;
    q->handler = handler;
    q->data = data;
    return HSA_STATUS_SUCCESS;
}

static uint64_t read_index(const hsa_queue_t *handle)
{
    return ((const struct queue *)handle)->read;
}

static uint64_t write_index(const hsa_queue_t *handle)
{
    return ((const struct queue *)handle)->write;
}

static void set_write_index(const hsa_queue_t *handle, uint64_t value)
{
    ((struct queue *)(uintptr_t)handle)->write = value;
}

// What the intercept queue does with packets: into the hardware's ring, if there is room.
static void write_packets(const void *packets, uint64_t count)
{
    struct queue *q = writing;
    if (q->shared.size - (q->write - q->read) <= count) {
        fake.ring_overflows++;
        while (q->shared.size - (q->write - q->read) <= count)
            nap();
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *packet = (const char *)packets + i * 64;
        char *slot = (char *)q->shared.base_address + (q->write & (q->shared.size - 1)) * 64;
        uint32_t first;
        memcpy(&first, packet, 4);
        memcpy(slot + 4, packet + 4, 60);
        __atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
        q->write++;
    }
}

void fake_submit(hsa_queue_t *handle, const void *packet)
{
    struct queue *q = (struct queue *)handle;
    pthread_mutex_lock(&q->submitting);
    writing = q;
    if (q->handler)
        q->handler(packet, 1, 0, q->data, write_packets);
    else
        write_packets(packet, 1);
    writing = NULL;
    pthread_mutex_unlock(&q->submitting);
}

static hsa_status_t dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                  hsa_amd_profiling_dispatch_time_t *time)
{
    const amd_signal_t *s = (const amd_signal_t *)(uintptr_t)signal.handle;
    (void)agent;
    *time = (hsa_amd_profiling_dispatch_time_t){s->start_ts, s->end_ts};
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    ((struct queue *)queue)->profiled = enable;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t status_string(hsa_status_t status, const char **text)
{
    *text = status == HSA_STATUS_SUCCESS ? "success" : "error";
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t not_offered(void)
{
    return HSA_STATUS_ERROR;
}

// ROCm 5.6: the oldest release with all that kreplay hooks but mappings of virtual memory.
enum { LAYOUT = 2 };

static void set(enum kr_hsa_function function, void *address)
{
    void **table = kr_hsa_function_part(function) == KR_HSA_CORE ? fake.core : fake.ext;
    table[kr_hsa_layouts[LAYOUT].slots[function]] = address;
}

void *fake_start(void)
{
    const struct kr_hsa_version core = {1, 1016, 0, 0}, ext = {1, 456, 0, 0}, root = {1, 48, 0, 0};
    memset(&fake, 0, sizeof(fake));
    fake.largest_watched = UINT32_MAX;
    for (enum kr_hsa_function f = 0; f < KR_FN_COUNT; f++)
        if (kr_hsa_layouts[LAYOUT].slots[f])
            set(f, (void *)not_offered);
    memcpy(fake.core, &core, sizeof(core));
    memcpy(fake.ext, &ext, sizeof(ext));
    memcpy(fake.root, &root, sizeof(root));
    fake.root[2] = fake.core;
    fake.root[3] = fake.ext;
    set(KR_FN_hsa_signal_create, (void *)signal_create);
    set(KR_FN_hsa_amd_signal_create, (void *)amd_signal_create);
    set(KR_FN_hsa_signal_destroy, (void *)signal_destroy);
    set(KR_FN_hsa_signal_load_scacquire, (void *)load);
    set(KR_FN_hsa_signal_store_screlease, (void *)store);
    set(KR_FN_hsa_signal_subtract_screlease, (void *)subtract);
    set(KR_FN_hsa_signal_wait_relaxed, (void *)wait_signal);
    set(KR_FN_hsa_signal_wait_scacquire, (void *)wait_signal);
    set(KR_FN_hsa_queue_create, (void *)queue_create);
    set(KR_FN_hsa_queue_destroy, (void *)queue_destroy);
    set(KR_FN_hsa_queue_inactivate, (void *)queue_inactivate);
    set(KR_FN_hsa_amd_queue_intercept_create, (void *)intercept_create);
    set(KR_FN_hsa_amd_queue_intercept_register, (void *)intercept_register);
    set(KR_FN_hsa_queue_load_read_index_scacquire, (void *)read_index);
    set(KR_FN_hsa_queue_load_write_index_relaxed, (void *)write_index);
    set(KR_FN_hsa_queue_store_write_index_screlease, (void *)set_write_index);
    set(KR_FN_hsa_amd_profiling_get_dispatch_time, (void *)dispatch_time);
    set(KR_FN_hsa_amd_profiling_set_profiler_enabled, (void *)set_profiler_enabled);
    set(KR_FN_hsa_status_string, (void *)status_string);
    fake_parts_install(set);
    return fake.root;
}

struct kr_hsa_api fake_program_api(void)
{
    struct kr_hsa_table table;
    struct kr_hsa_api api = {0};
    char error[128];
    if (kr_hsa_table_open(fake.root, &table, error, sizeof(error)) == 0)
        kr_hsa_table_read(&table, &api);
    return api;
}
