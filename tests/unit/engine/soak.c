// SPDX-License-Identifier: MIT
// Four threads do what programs do, at random and for long: dispatches with and without replay, copies, frees,
// allocations, on two GPUs, while calls of the back end fail and waits run out. Each thread compares its memory with
// a twin that was never profiled, after everything it does; each dispatch has one record and one completion.
//
// KREPLAY_SOAK_SECONDS: how long, 25 by default. KREPLAY_SEED: another course of events. Meant for the thread
// sanitizer, too.
#include "engine/clock.h"
#include "fake/fake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, GPUS = 2, REGIONS = 3, MAX_BYTES = 5 * 4096 + 100, REASONS = 32 };

// A region of one thread's, and what it has to hold.
struct slot {
    uint8_t *at, *twin;
    size_t bytes;
};

struct worker {
    pthread_t thread;
    uint32_t index;
    uint64_t dice;
    struct slot slots[GPUS][REGIONS];
    // dispatch ids are 1, 2, ... in each thread, and so must be the records
    uint64_t launched, recorded;
};

static struct kr_fake *fake;
static struct kr_engine *engine;
static struct worker workers[THREADS];
static kreplay_group *groups[GPUS];
static uint64_t end_ns, half_ns;
static atomic_uint_fast64_t outcomes[4], reasons[REASONS], failures_armed;
static pthread_mutex_t arming = PTHREAD_MUTEX_INITIALIZER;

static void fail(const struct worker *w, const char *what)
{
    fprintf(stderr, "soak: thread %u: %s, after %llu dispatches\n", w ? w->index : THREADS, what,
            (unsigned long long)(w ? w->launched : 0));
    _exit(1);
}

static uint32_t roll(struct worker *w, uint32_t sides)
{
    w->dice ^= w->dice << 13; // xorshift
    w->dice ^= w->dice >> 7;
    w->dice ^= w->dice << 17;
    return (uint32_t)(w->dice >> 33) % sides;
}

// ---- Kernels
struct kernel {
    struct kr_fake_op op;
    struct worker *w;
    uint32_t gpu;
    uint64_t seed;
    unsigned steps;
    bool wanders; // its result is another one in each execution
};

static uint64_t next(uint64_t x)
{
    return x * 6364136223846793005u + 1442695040888963407u;
}

static void execute(const struct kernel *k, uint64_t seed, bool twin)
{
    struct slot *slots = k->w->slots[k->gpu];
    uint64_t x = seed;
    for (unsigned i = 0; i < k->steps; i++) {
        x = next(x);
        const struct slot *from = &slots[(x >> 40) % REGIONS], *to = &slots[(x >> 50) % REGIONS];
        if (!from->at || !to->at)
            continue;
        uint8_t value = (twin ? from->twin : from->at)[(x >> 20) % from->bytes];
        x += value; // wrong input spreads
        (twin ? to->twin : to->at)[(x >> 24) % to->bytes] += (uint8_t)(value + (x >> 60) + 1);
    }
}

// The first execution is the program's own.
static void on_device(void *arg, struct kr_fake_exec *exec)
{
    const struct kernel *k = arg;
    uint64_t seed = k->wanders ? k->seed ^ next(exec->execution) : k->seed;
    execute(k, seed, false);
    if (k->op.executions == 1)
        execute(k, seed, true);
    exec->work += k->steps;
}

// ---- The tool
static int maybe(const kreplay_dispatch *dispatch, uint32_t pass, uint32_t total,
                 union kreplay_user_data data)
{
    (void)total;
    return pass < 12 && (dispatch->dispatch_id + pass) % 5 != 0 && data.pointer != NULL;
}

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 5, 9};
    struct worker *w = &workers[config->dispatch->thread_id];
    (void)tool;
    if (phase == KREPLAY_EXIT) {
        if (config->want && config->user_data.pointer != w)
            fail(w, "user data of another dispatch");
        return;
    }
    config->user_data.pointer = w;
    config->want = roll(w, 8) != 0;
    config->pass_count = counts[roll(w, 6)];
    config->min_passes = roll(w, 4);
    config->continue_fn = roll(w, 2) ? maybe : NULL;
    config->group = config->pass_count == 1 && roll(w, 2) ? groups[config->dispatch->agent_id] : NULL;
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    struct worker *w = pass->user_data.pointer;
    (void)tool;
    if (phase == KREPLAY_ENTER && roll(w, 3) != 0)
        pass->group = groups[pass->dispatch->agent_id];
    pass->user_data.pointer = w;
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    struct worker *w = &workers[record->dispatch->thread_id];
    (void)tool;
    if (record->dispatch->dispatch_id != ++w->recorded)
        fail(w, "a record is missing, or there is one too many");
    outcomes[record->outcome->kind]++;
    reasons[record->outcome->reason % REASONS]++;
}

// ---- What threads do
// At most one failure is armed: two together may have no way out but abort().
static void arm_failure(struct worker *w)
{
    static const struct {
        enum kr_fake_call call;
        int status;
    } failures[] = {
        {KR_FAKE_DRAIN_QUEUE, KREPLAY_TIMEOUT},  {KR_FAKE_DRAIN_AGENT, KREPLAY_TIMEOUT},
        {KR_FAKE_ALLOC, KREPLAY_NO_MEMORY},      {KR_FAKE_COPY_PRIMARY, KREPLAY_DEVICE},
        {KR_FAKE_COMPARE, KREPLAY_DEVICE},       {KR_FAKE_PASS_BEGIN, KREPLAY_UNAVAILABLE},
        {KR_FAKE_SUBMIT, KREPLAY_DEVICE},        {KR_FAKE_PASS_END, KREPLAY_TIMEOUT},
        {KR_FAKE_PASS_END, KREPLAY_UNAVAILABLE}, {KR_FAKE_PASS_END, KREPLAY_DEVICE},
        {KR_FAKE_LIVE_WAIT, KREPLAY_TIMEOUT},
    };
    uint32_t which = roll(w, sizeof failures / sizeof failures[0]);
    pthread_mutex_lock(&arming);
    for (unsigned i = 0; i < KR_FAKE_CALL_COUNT; i++)
        kr_fake_fail(fake, (enum kr_fake_call)i, 1, 0, 0);
    kr_fake_stick(fake, roll(w, 2));
    kr_fake_fail(fake, failures[which].call, 1 + roll(w, 6), 1, failures[which].status);
    pthread_mutex_unlock(&arming);
    failures_armed++;
}

static void run_window(struct worker *w, uint32_t gpu)
{
    struct kernel kernels[2] = {0};
    struct kr_op ops[2] = {0};
    struct kr_window window = {.agent = gpu, .ops = ops, .op_count = 1 + roll(w, 2)};
    for (size_t i = 0; i < window.op_count; i++) {
        kernels[i] = (struct kernel){.op = {.run = on_device, .arg = &kernels[i]},
                                     .w = w,
                                     .gpu = gpu,
                                     .seed = next(w->dice + i),
                                     .steps = roll(w, 40),
                                     .wanders = roll(w, 10) == 0};
        ops[i] = (struct kr_op){.kind = KR_OP_DISPATCH, .backend = &kernels[i].op};
        ops[i].dispatch = (kreplay_dispatch){.size = sizeof(kreplay_dispatch),
                                             .dispatch_id = ++w->launched,
                                             .agent_id = gpu,
                                             .queue_id = w->index + 1,
                                             // one that wanders is told apart: it is remembered
                                             .kernel_id = kernels[i].wanders ? 2 : 1,
                                             .kernel_name = "soak",
                                             .thread_id = w->index};
    }
    if (kr_fake_flags(fake) & KR_BACKEND_LIVE_IS_PASS0) {
        kr_window_run(engine, &window);
    } else {
        kr_window_open(engine, &window);
        kr_fake_launch(fake, &window);
        kr_window_close(engine, &window);
    }
    // What was given up still runs, as an ordinary submission.
    kr_gate_enter(engine, gpu);
    kr_fake_settle_window(fake, &window);
    kr_gate_leave(engine, gpu);
    for (size_t i = 0; i < window.op_count; i++)
        if (kernels[i].op.completions != 1 || kernels[i].op.executions == 0)
            fail(w, "a dispatch did not complete exactly once");
}

static void renew(struct worker *w, uint32_t gpu)
{
    struct slot *slot = &w->slots[gpu][roll(w, REGIONS)];
    if (slot->at) {
        kr_fake_free(fake, gpu, slot->at);
        free(slot->twin);
        *slot = (struct slot){0};
    }
    if (roll(w, 6) == 0)
        return; // no region
    size_t bytes = 1 + roll(w, MAX_BYTES);
    uint8_t *at = kr_fake_malloc(fake, gpu, bytes), *twin = calloc(1, bytes);
    if (!twin)
        fail(w, "out of memory");
    if (!at) { // the GPU is full, as it may be
        free(twin);
        return;
    }
    *slot = (struct slot){at, twin, bytes};
}

// A copy from the host, and at times one between GPUs.
static void copy(struct worker *w, uint32_t gpu)
{
    struct slot *to = &w->slots[gpu][roll(w, REGIONS)];
    const struct slot *from = &w->slots[GPUS - 1 - gpu][roll(w, REGIONS)];
    bool between = roll(w, 3) == 0;
    if (!to->at || (between && !from->at))
        return;
    for (uint32_t i = 0; i < GPUS; i++) // in id order
        if (i == gpu || between)
            kr_gate_enter(engine, i);
    size_t bytes = between && from->bytes < to->bytes ? from->bytes : to->bytes;
    if (between) {
        memcpy(to->at, from->at, bytes);
        memcpy(to->twin, from->twin, bytes);
    } else {
        memset(to->at, (int)w->dice, bytes);
        memset(to->twin, (int)w->dice, bytes);
    }
    for (uint32_t i = GPUS; i-- > 0;)
        if (i == gpu || between)
            kr_gate_leave(engine, i);
}

static void compare(const struct worker *w, uint32_t gpu)
{
    kr_gate_enter(engine, gpu);
    for (unsigned i = 0; i < REGIONS; i++) {
        const struct slot *slot = &w->slots[gpu][i];
        if (slot->at && memcmp(slot->at, slot->twin, slot->bytes) != 0)
            fail(w, "memory is not its twin's");
    }
    kr_gate_leave(engine, gpu);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    bool granted = false;
    while (kr_clock_ns() < end_ns) {
        uint32_t gpu = roll(w, 4) ? w->index % GPUS : roll(w, GPUS), what = roll(w, 16);
        if (what == 0)
            arm_failure(w);
        else if (what < 3)
            renew(w, gpu);
        else if (what < 6)
            copy(w, gpu);
        else
            run_window(w, gpu);
        compare(w, gpu);
        if (w->index == 0 && !granted && kr_clock_ns() > half_ns) {
            kr_engine_allow_access(engine, 0, 1); // from now on their windows exclude each other
            granted = true;
        }
    }
    return NULL;
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void soak(unsigned flags, uint64_t seed, uint64_t duration_ns)
{
    static const char *const names[] = {"FAKE_RUNS", "FAKE_WORK"};
    const kreplay_tool tool = {
        .size = sizeof tool, .name = "soak", .config = on_config, .pass = on_pass, .dispatch = on_dispatch};
    fake = kr_fake_create(&(struct kr_fake_options){
        .flags = flags, .agents = GPUS, .device_bytes = (uint64_t)THREADS * GPUS * REGIONS * MAX_BYTES});
    if (!fake || kreplay_register(&tool) != 0)
        fail(NULL, "no engine");
    engine = kr_fake_engine(fake);
    for (uint32_t gpu = 0; gpu < GPUS; gpu++)
        if (kreplay_group_create(gpu, names, 2, &groups[gpu], NULL, 0) != 0)
            fail(NULL, "no group");
    half_ns = kr_clock_ns() + duration_ns / 2;
    end_ns = kr_clock_ns() + duration_ns;
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.index = i, .dice = next(seed + i) | 1};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            fail(NULL, "no thread");
    }
    uint64_t launched = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];
        pthread_join(w->thread, NULL);
        if (w->launched != w->recorded)
            fail(w, "a dispatch has no record");
        launched += w->launched;
        for (uint32_t gpu = 0; gpu < GPUS; gpu++)
            for (unsigned k = 0; k < REGIONS; k++)
                if (w->slots[gpu][k].at) {
                    kr_fake_free(fake, gpu, w->slots[gpu][k].at);
                    free(w->slots[gpu][k].twin);
                }
    }
    if (kr_fake_strays(fake) != 0)
        fail(NULL, "memory was touched that is not there");
    for (uint32_t gpu = 0; gpu < GPUS; gpu++)
        kreplay_group_destroy(groups[gpu]);
    kr_fake_destroy(fake);
    printf("%s: %llu dispatches\n", flags ? "kreplay runs the live execution" : "the program runs it",
           (unsigned long long)launched);
}

int main(void)
{
    const uint64_t seconds = number("KREPLAY_SOAK_SECONDS", 25), seed = number("KREPLAY_SEED", 1);
    setenv("KREPLAY_LOG_LEVEL", "fatal", 0); // failures are what this is about
    printf("seed %llu, %llu seconds\n", (unsigned long long)seed, (unsigned long long)seconds);
    soak(KR_BACKEND_LIVE_IS_PASS0, seed, seconds * 500000000u);
    soak(0, seed + 1, seconds * 500000000u);
    printf("replayed %llu, single %llu, filtered %llu, declined %llu; %llu failures\n",
           (unsigned long long)outcomes[KREPLAY_REPLAYED], (unsigned long long)outcomes[KREPLAY_SINGLE],
           (unsigned long long)outcomes[KREPLAY_FILTERED], (unsigned long long)outcomes[KREPLAY_DECLINED],
           (unsigned long long)failures_armed);
    for (int i = 1; i < REASONS; i++)
        if (reasons[i])
            printf("%10llu %s\n", (unsigned long long)reasons[i], kreplay_reason_key((kreplay_reason)i));
    return outcomes[KREPLAY_REPLAYED] > 0 && outcomes[KREPLAY_DECLINED] > 0 ? 0 : 1;
}
