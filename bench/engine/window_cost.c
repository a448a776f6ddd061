// SPDX-License-Identifier: MIT
// Fixed cost of one window on the fake back end: a kernel that does nothing, so that what is left is the
// engine's own time. Prints a table; the ratio is against calling the back end's execution alone, as a
// program without kreplay would.
#include "engine/clock.h"
#include "fake/fake.h"

#include <stdio.h>
#include <stdlib.h>

#define WINDOWS 20000
#define ROUNDS  5 // the best counts: what disturbs only adds

static bool want;
static uint32_t passes;
static kreplay_group *group;

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    if (phase == KREPLAY_EXIT)
        return;
    config->want = want;
    config->pass_count = passes;
    config->group = group;
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool;
    if (phase == KREPLAY_ENTER)
        pass->group = group;
}

static void nothing(void *arg, struct kr_fake_exec *exec)
{
    (void)arg;
    (void)exec;
}

static double best_ns(struct kr_fake *fake, bool engine)
{
    struct kr_fake_op mine = {.run = nothing};
    struct kr_op op = {.kind = KR_OP_DISPATCH, .dispatch = {.size = sizeof op.dispatch}, .backend = &mine};
    struct kr_window window = {.ops = &op, .op_count = 1};
    double best = 0;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = kr_clock_ns();
        for (int i = 0; i < WINDOWS; i++) {
            if (engine)
                kr_window_run(kr_fake_engine(fake), &window);
            else
                kr_fake_launch(fake, &window);
        }
        double each = (double)(kr_clock_ns() - start) / WINDOWS;
        if (round == 0 || each < best)
            best = each;
    }
    return best;
}

int main(void)
{
    static const char *const names[] = {"FAKE_RUNS"};
    static const struct {
        const char *name;
        bool want;
        uint32_t passes;
    } rows[] = {
        {"filtered", false, 1},
        {"1 pass", true, 1},
        {"5 passes", true, 5},
    };
    const kreplay_tool tool = {.size = sizeof tool, .name = "bench", .config = on_config, .pass = on_pass};

    printf("%-10s %12s %12s %10s\n", "window", "ns/window", "ns/pass", "x plain");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kr_fake *fake = kr_fake_create(&(struct kr_fake_options){.flags = KR_BACKEND_LIVE_IS_PASS0});
        if (!fake || kreplay_register(&tool) != 0 || kreplay_group_create(0, names, 1, &group, NULL, 0) != 0)
            return EXIT_FAILURE;
        want = rows[i].want;
        passes = rows[i].passes;
        double plain = best_ns(fake, false), window = best_ns(fake, true);
        printf("%-10s %12.0f %12.0f %10.1f\n", rows[i].name, window, window / rows[i].passes, window / plain);
        kreplay_group_destroy(group);
        kr_fake_destroy(fake);
    }
    return EXIT_SUCCESS;
}
