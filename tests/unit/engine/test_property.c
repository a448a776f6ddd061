// SPDX-License-Identifier: MIT
// Random programs: whatever is replayed, filtered, declined, freed or reallocated, memory is what plain
// execution leaves. The seed is printed on failure; KREPLAY_SEED repeats one case, KREPLAY_CASES sets how
// many.
#include "rig.h"

#include <stdio.h>

#define LIVE0     KR_BACKEND_LIVE_IS_PASS0
#define REGIONS   6
#define MAX_BYTES (5 * BLOCK + 100)

static uint64_t dice;
static uint32_t roll(uint32_t sides)
{
    dice ^= dice << 13; // xorshift
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (uint32_t)(dice >> 33) % sides;
}

// A region and what it has to hold.
static struct slot {
    uint8_t *at, *model;
    size_t bytes;
} slots[REGIONS];

// A kernel: reads and writes places that follow from its seed and from memory, so that wrong input spreads.
struct kernel {
    uint64_t seed;
    unsigned steps;
    bool sweeping; // also adds one to a whole region
};

static void execute(const struct kernel *kernel, bool model)
{
    uint64_t x = kernel->seed;
    for (unsigned i = 0; i < kernel->steps; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const struct slot *from = &slots[(x >> 40) % REGIONS], *to = &slots[(x >> 50) % REGIONS];
        if (!from->at || !to->at)
            continue;
        const uint8_t *source = model ? from->model : from->at;
        uint8_t *target = model ? to->model : to->at;
        uint8_t value = source[(x >> 20) % from->bytes];
        x += value;
        target[(x >> 24) % to->bytes] += (uint8_t)(value + (x >> 60) + 1);
    }
    const struct slot *all = &slots[kernel->seed % REGIONS];
    if (kernel->sweeping && all->at)
        for (size_t i = 0; i < all->bytes; i++)
            (model ? all->model : all->at)[i]++;
}

static void kernel_on_device(void *arg, struct kr_fake_exec *exec)
{
    const struct kernel *kernel = arg;
    execute(kernel, false);
    exec->work += kernel->steps;
}

static void renew(struct slot *slot)
{
    static const size_t round[] = {1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, MAX_BYTES};
    if (slot->at) {
        kr_fake_free(rig.fake, 0, slot->at);
        free(slot->model);
        *slot = (struct slot){0};
    }
    if (roll(5) == 0)
        return; // no region
    slot->bytes = roll(2) ? round[roll(sizeof round / sizeof round[0])] : 1 + roll(MAX_BYTES);
    slot->at = kr_fake_malloc(rig.fake, 0, slot->bytes);
    slot->model = calloc(1, slot->bytes);
    assert_true(slot->at && slot->model);
    for (size_t i = 0; i < slot->bytes; i += 1 + roll(200))
        slot->at[i] = slot->model[i] = (uint8_t)roll(256); // as a copy of the program's would
}

static uint32_t goes_on; // of ten
static int maybe(const kreplay_dispatch *dispatch, uint32_t current, uint32_t total,
                 union kreplay_user_data data)
{
    (void)dispatch;
    (void)current;
    (void)total;
    (void)data;
    return current < 12 && roll(10) < goes_on;
}

static void random_wish(kreplay_phase phase, kreplay_config *config)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 5, 9};
    if (phase == KREPLAY_EXIT)
        return;
    config->want = roll(8) != 0;
    config->pass_count = counts[roll(6)];
    config->continue_fn = roll(2) ? maybe : NULL;
    config->group = config->pass_count == 1 && roll(2) ? rig.groups[0] : NULL;
}

static void random_failure(void)
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
        {KR_FAKE_CANCEL, KREPLAY_DEVICE},
    };
    uint32_t which = roll(sizeof failures / sizeof failures[0]);
    for (unsigned i = 0; i < KR_FAKE_CALL_COUNT; i++)
        kr_fake_fail(rig.fake, (enum kr_fake_call)i, 1, 0,
                     0); // one at a time: two together may have no way out
    kr_fake_stick(rig.fake, roll(3));
    kr_fake_fail(rig.fake, failures[which].call, 1 + roll(6), 1, failures[which].status);
}

static bool memory_is_right(void)
{
    for (size_t i = 0; i < REGIONS; i++)
        if (slots[i].at && memcmp(slots[i].at, slots[i].model, slots[i].bytes) != 0)
            return false;
    return true;
}

static bool one_case(uint64_t seed, bool failures)
{
    bool right = true;
    dice = seed * 2654435761u + 88172645463325252u;
    setenv("KREPLAY_RESTORE", roll(3) ? "changed" : "full", 1);
    rig_start_with(&(struct kr_fake_options){
        .flags = roll(3) ? LIVE0 : 0,
        .device_bytes = roll(4) ? 0 : REGIONS * MAX_BYTES + roll(REGIONS * MAX_BYTES),
    });
    goes_on = roll(11);
    rig.on_config = random_wish;
    memset(slots, 0, sizeof slots);
    for (size_t i = 0; i < REGIONS; i++)
        renew(&slots[i]);
    for (unsigned launch = 0; launch < 8 && right; launch++) {
        struct rig_window w = {0};
        struct kernel kernels[3];
        unsigned count = 1 + (roll(3) ? 0 : roll(3));
        for (unsigned i = 0; i < count; i++) {
            kernels[i] =
                (struct kernel){(uint64_t)roll(1u << 30) << 20 | roll(1u << 20), roll(60), roll(4) == 0};
            rig_add(&w, kernel_on_device, &kernels[i]);
            w.ops[i].kind = roll(6) ? KR_OP_DISPATCH : KR_OP_COPY;
            w.ops[i].unsafe = roll(12) ? KREPLAY_REASON_NONE : KREPLAY_REASON_UNSAFE_KERNEL;
        }
        if (failures && roll(2))
            random_failure();
        rig_run(&w);
        kr_fake_settle(rig.fake);
        rig_expect_done_once(&w);
        for (unsigned i = 0; i < count; i++)
            execute(&kernels[i], true);
        right = memory_is_right();
        if (roll(3) == 0)
            renew(&slots[roll(REGIONS)]);
    }
    for (size_t i = 0; i < rig.record_count; i++) {
        const kreplay_outcome *outcome = &rig.records[i].outcome;
        right = right && outcome->deterministic;
        right = right && (outcome->kind != KREPLAY_DECLINED || outcome->reason != KREPLAY_REASON_NONE);
    }
    for (size_t i = 0; i < REGIONS; i++) {
        if (slots[i].at)
            kr_fake_free(rig.fake, 0, slots[i].at);
        free(slots[i].model);
    }
    rig_stop();
    unsetenv("KREPLAY_RESTORE");
    return right;
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void cases(bool failures)
{
    uint64_t only = number("KREPLAY_SEED", 0), count = number("KREPLAY_CASES", 3000);
    for (uint64_t seed = only ? only : 1; seed <= (only ? only : count); seed++)
        if (!one_case(seed, failures))
            fail_msg("KREPLAY_SEED=%llu", (unsigned long long)seed);
}

static void memory_is_as_after_plain_execution(void **state)
{
    (void)state;
    cases(false);
}

static void also_when_calls_fail(void **state)
{
    (void)state;
    cases(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_as_after_plain_execution),
        cmocka_unit_test(also_when_calls_fail),
    };
    return cmocka_run_group_tests_name("engine.property", tests, NULL, NULL);
}
