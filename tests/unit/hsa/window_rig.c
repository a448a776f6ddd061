// SPDX-License-Identifier: MIT
// Kernels, tool and calls that the tests of windows share.
#include "window_rig.h"

#include <pthread.h>

int *module_data;
_Atomic bool spin_on;

static void add_one(void *p)
{
    const struct arguments *a = p;
    a->data[0] += 1;
    module_data[0] += 1;
}

static void spin(void *p)
{
    const struct arguments *a = p;
    while (spin_on && !fake.stop_kernels)
        usleep(100);
    a->data[0] += 100;
}

// Ends the first time it is run, and never again.
static void once(void *p)
{
    const struct arguments *a = p;
    static unsigned runs;
    a->data[0] += 1000;
    if (runs++ == 0)
        return;
    while (!fake.stop_kernels)
        usleep(100);
}

static void fault(void *p)
{
    (void)p;
    fake_fault();
}

// The first run is fine.
static void fault_later(void *p)
{
    const struct arguments *a = p;
    static unsigned runs;
    a->data[0] += 1;
    if (runs++ == 1)
        fake_fault();
}

static const struct fake_kernel_info kernels[KERNELS] = {
    [ADD_ONE] = {"add_one.kd", add_one, sizeof(struct arguments), false},
    [SPIN] = {"spin.kd", spin, sizeof(struct arguments), false},
    [PRINTS] = {"prints.kd", add_one, sizeof(struct arguments), true},
    [ONCE] = {"once.kd", once, sizeof(struct arguments), false},
    [FAULT] = {"fault.kd", fault, sizeof(struct arguments), false},
    [FAULT_LATER] = {"fault_later.kd", fault_later, sizeof(struct arguments), false},
};

// ---- A tool that asks for two passes of everything and remembers what it is told
struct window_tool tool;
const char *unwanted;

void make_groups(void *arg, const kreplay_agent *agent)
{
    static const char *const names[2][2] = {{"SQ_WAVES", "SQ_INSTS_VALU"}, {"SQ_WAVES", "GRBM_COUNT"}};
    (void)arg;
    tool.agents++;
    assert_string_equal(agent->name, "gfx90a");
    if (agent->agent_id > 0)
        return;
    for (int i = 0; i < 2; i++)
        kreplay_group_create(agent->agent_id, names[i], 2, &tool.groups[i], tool.group_error,
                             sizeof(tool.group_error));
}

static void on_kernel(void *arg, const kreplay_kernel *kernel)
{
    (void)arg, (void)kernel;
    tool.kernels++;
}

static void on_config(void *arg, kreplay_phase phase, kreplay_config *config)
{
    (void)arg;
    if (phase != KREPLAY_ENTER)
        return;
    config->want = true;
    config->pass_count = 2;
}

static void on_pass(void *arg, kreplay_phase phase, kreplay_pass *pass)
{
    (void)arg;
    if (phase == KREPLAY_ENTER)
        pass->group = tool.groups[pass->current_pass];
}

static bool on_filter(void *arg, const kreplay_dispatch *dispatch, bool wanted,
                      union kreplay_user_data *user_data)
{
    (void)arg, (void)user_data;
    assert_false(wanted); // there is no other tool
    return !strstr(unwanted, dispatch->kernel_name);
}

// What the filter refuses comes from the test's thread.
static void on_dispatch(void *arg, const kreplay_dispatch_record *record)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)arg;
    pthread_mutex_lock(&lock);
    struct seen *s = &tool.seen[tool.count];
    s->id = record->dispatch->dispatch_id;
    s->outcome = *record->outcome;
    s->start_ns = record->start_ns;
    s->end_ns = record->end_ns;
    snprintf(s->kernel, sizeof(s->kernel), "%s", record->dispatch->kernel_name);
    if (record->pass_count > 0 && record->passes[0].value_count > 1) {
        s->values = record->passes[0].value_count;
        s->first_value = record->passes[0].values[0].value;
        s->second_value = record->passes[0].values[1].value;
    }
    tool.count++;
    pthread_mutex_unlock(&lock);
}

static void on_fini(void *arg)
{
    (void)arg;
    tool.finished++;
    for (int i = 0; i < 2; i++)
        kreplay_group_destroy(tool.groups[i]);
}

struct kr_hsa_api program;

void start_with(unsigned gpus)
{
    const kreplay_tool mine = {
        .size = sizeof(mine),
        .name = "test",
        .filter = unwanted ? on_filter : NULL,
        .agent = make_groups,
        .kernel = on_kernel,
        .config = on_config,
        .pass = on_pass,
        .dispatch = on_dispatch,
        .fini = on_fini,
    };
    char error[256] = "";
    setenv("KREPLAY_HOST_COPIES", "0",
           0); // the fake GPU's memory is the host's; most tests want copies by the runtime
    module_data = aligned_alloc(64, 128);
    memset(module_data, 0, 128);
    void *table = fake_start();
    fake.two_gpus = gpus == 2;
    assert_int_equal(kr_hsa_open(table, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kreplay_register(&mine), KREPLAY_OK);
    kr_hsa_begin();
    program = fake_program_api();
    fake_load(kernels, KERNELS, module_data);
}

void start(void)
{
    start_with(1);
}

hsa_queue_t *queue_of_type(uint32_t size, hsa_queue_type32_t type)
{
    hsa_queue_t *q = NULL;
    assert_int_equal(program.hsa_queue_create(fake_gpu, size, type, NULL, NULL, UINT32_MAX, UINT32_MAX, &q),
                     HSA_STATUS_SUCCESS);
    return q;
}

hsa_queue_t *queue(uint32_t size)
{
    return queue_of_type(size, HSA_QUEUE_TYPE_MULTI);
}

void *device(size_t bytes)
{
    void *p = NULL;
    assert_int_equal(program.hsa_amd_memory_pool_allocate(fake_device_pool, bytes, 0, &p),
                     HSA_STATUS_SUCCESS);
    memset(p, 0, bytes);
    fake_keep((char *)p - 64); // the block that it is in
    return p;
}

static hsa_kernel_dispatch_packet_t packet_of(unsigned kernel, struct arguments *arguments,
                                              hsa_signal_t signal)
{
    return (hsa_kernel_dispatch_packet_t){
        .header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER,
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = 64,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = fake_kernel_object(kernel),
        .kernarg_address = arguments,
        .completion_signal = signal,
    };
}

void dispatch(hsa_queue_t *q, unsigned kernel, struct arguments *arguments, hsa_signal_t signal)
{
    hsa_kernel_dispatch_packet_t packet = packet_of(kernel, arguments, signal);
    fake_submit(q, &packet);
}

void barrier(hsa_queue_t *q, hsa_signal_t dependency, hsa_signal_t completion)
{
    hsa_barrier_and_packet_t packet = {
        .header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
        .dep_signal = {dependency},
        .completion_signal = completion,
    };
    fake_submit(q, &packet);
}

const hsa_signal_t none = {0};

void until(const _Atomic unsigned *count, unsigned at_least)
{
    for (unsigned i = 0; i < 200000 && *count < at_least; i++)
        usleep(100);
    assert_true(*count >= at_least);
}

int window_main(int argc, char **argv, const char *group, const struct CMUnitTest *tests, size_t count)
{
    if (argc != 2) {
        fprintf(stderr, "usage: test_hsa_%s TEST\n", group);
        return 2;
    }
    cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}
