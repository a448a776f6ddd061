// SPDX-License-Identifier: MIT
// Which work-groups of a launch run when.
//
// Most kernels never wait for another group, and run best one group after another: one set of registers that
// stays in the cache, memory for one group. So a group first runs alone. One that does not end within a bounded
// number of rounds, or waits for so long that whoever it waits for may be another group, is joined by further
// groups: twice as many whenever all had a turn and none ended, up to the number that an MI210 would hold of
// this kernel. From then on they take turns. A group that spins hands on its turn soon (sg_polled()). All this
// depends on instruction counts alone, so that repetitions are alike, unless a wave waits for the host.
//
// Once the launch has shown that it is not short, other threads take groups, too. Each runs its own groups by the
// rules above, so a group that waits finds the one that it waits for begun, here or there.
#include "softgpu/isa/machine.h"

#include <sched.h>
#include <time.h>

#define ALONE_ROUNDS   64   // of one slice for each wave
#define WATCHED_ROUNDS 4096 // the same of the shorter slices while somebody looks on
#define ALONE_IDLE     32   // rounds without progress
#define OFFER_AFTER    2048 // instructions; the time that another thread needs to wake
#define IDLE_YIELDS    16   // of these only yield; the others sleep, so that a host thread can answer
#define IDLE_NS        20000

uint64_t sg_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

// All wait for something outside: let the thread run that makes it happen.
static void idle_wait(unsigned times)
{
    if (times < IDLE_YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
}

static bool groups_left(const struct sg_machine *m)
{
    uint64_t groups;
    return sg_job_left(m->job, &groups);
}

// The next group of the grid begins in `r`; false when none is left. LDS is zeroed for each group.
static bool start_group(struct sg_machine *m, struct sg_resident *r)
{
    const struct sg_launch *l = m->launch;
    uint64_t number;
    if (!sg_job_take(m->job, &number))
        return false;
    const uint32_t id[3] = {(uint32_t)(number % m->groups[0]),
                            (uint32_t)(number / m->groups[0] % m->groups[1]),
                            (uint32_t)(number / m->groups[0] / m->groups[1])};
    uint32_t size[3];
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t left = l->grid[i] - id[i] * l->workgroup[i];
        size[i] = left < l->workgroup[i] ? left : l->workgroup[i];
    }
    struct sg_group *group = &r->group;
    *group = (struct sg_group){
        .launch = l,
        .lds = r->lds,
        .lds_bytes = m->lds_bytes,
        .scratch = m->wave_scratch_bytes ? r->scratch : NULL,
        .scratch_wave_bytes = m->wave_scratch_bytes,
        .id = {id[0], id[1], id[2]},
        .n_waves = (size[0] * size[1] * size[2] + SG_LANES - 1) / SG_LANES,
        .counts = &m->counts[number % SG_SHADER_ENGINES],
    };
    group->counts->workgroups++;
    group->counts->waves += group->n_waves;
    memset(group->lds, 0, group->lds_bytes);
    r->number = number;
    r->alive = group->n_waves;
    for (unsigned i = 0; i < group->n_waves; i++)
        sg_wave_start(m, r, i, size);
    __atomic_add_fetch(&m->job->live, 1, __ATOMIC_RELAXED);
    if (l->watch)
        l->watch->group_begins(l->watch, group, r->wave, number);
    return true;
}

static enum sg_turn give_turn(struct sg_machine *m, struct sg_resident *r)
{
    m->turn = r;
    const enum sg_turn turn = sg_group_turn(m, r);
    sg_group_count(m);
    if (turn == SG_TURN_ENDED) {
        __atomic_sub_fetch(&m->job->live, 1, __ATOMIC_RELAXED);
        if (m->launch->watch)
            m->launch->watch->group_ends(m->launch->watch, &r->group);
    }
    if (!m->helper && m->executed >= OFFER_AFTER && groups_left(m))
        sg_pool_offer(m->job);
    return turn;
}

// Runs the group in `r` while it is alone. Returns SG_TURN_MOVED when others shall join it.
static enum sg_turn run_alone(struct sg_machine *m, struct sg_resident *r)
{
    const unsigned most = m->launch->watch ? WATCHED_ROUNDS : ALONE_ROUNDS;
    unsigned rounds = 0, idle = 0;
    for (;;) {
        const enum sg_turn turn = give_turn(m, r);
        switch (turn) {
        case SG_TURN_ENDED:
        case SG_TURN_FAULT:
            return turn;
        case SG_TURN_MOVED:
            idle = 0;
            rounds += rounds < most;
            break;
        case SG_TURN_WAITING:
        case SG_TURN_IDLE:
            if (turn == SG_TURN_WAITING && groups_left(m))
                return SG_TURN_MOVED;
            idle_wait(idle);
            idle += idle < ALONE_IDLE;
            break;
        }
        if (groups_left(m) && (rounds == most || idle == ALONE_IDLE))
            return SG_TURN_MOVED;
    }
}

// Room for one more group beside those in resident[0 .. live)?
static bool has_room(struct sg_machine *m, unsigned live)
{
    if (live == SG_MAX_RESIDENT || __atomic_load_n(&m->job->live, __ATOMIC_RELAXED) >= m->max_resident)
        return false;
    if (live < m->n_resident)
        return true;
    struct sg_resident *fresh = sg_resident_new(m);
    if (!fresh) { // those that run must do
        m->max_resident = 0;
        return false;
    }
    m->resident[m->n_resident++] = fresh;
    return true;
}

// Starts up to `n` more groups beside those in resident[0 .. live). Returns how many live then.
static unsigned join(struct sg_machine *m, unsigned live, unsigned n)
{
    uint64_t groups = 0;
    const unsigned threads = sg_pool_threads(m->launch);
    sg_job_left(m->job, &groups);
    const uint64_t share = (groups + threads - 1) / threads; // leaves the others theirs
    for (unsigned i = 0; i < n && i < share && has_room(m, live); i++) {
        if (!start_group(m, m->resident[live]))
            break;
        live++;
    }
    return live;
}

// The group at `at` has ended; keeps the others in order and its storage for the next.
static void retire(struct sg_machine *m, unsigned at, unsigned live)
{
    struct sg_resident *gone = m->resident[at];
    memmove(&m->resident[at], &m->resident[at + 1], (live - at - 1) * sizeof(struct sg_resident *));
    m->resident[live - 1] = gone;
}

// The group in resident[0] and all that are left take turns, to the end of the launch.
static bool run_together(struct sg_machine *m)
{
    unsigned live = join(m, 1, 1), idle = 0;
    while (live) {
        bool moved = false, ended = false;
        for (unsigned i = 0; i < live;) {
            switch (give_turn(m, m->resident[i])) {
            case SG_TURN_FAULT:
                return false;
            case SG_TURN_ENDED:
                ended = true;
                if (start_group(m, m->resident[i]))
                    i++;
                else
                    retire(m, i, live--);
                break;
            case SG_TURN_MOVED:
                moved = true;
                i++;
                break;
            case SG_TURN_IDLE:
            case SG_TURN_WAITING:
                i++;
                break;
            }
        }
        const unsigned before = live;
        if (!ended)
            live = join(m, live, live);
        if (moved || ended || live > before) {
            idle = 0;
            continue;
        }
        idle_wait(idle);
        idle += idle < IDLE_YIELDS;
    }
    return true;
}

bool sg_schedule(struct sg_machine *m)
{
    while (start_group(m, m->resident[0])) {
        switch (run_alone(m, m->resident[0])) {
        case SG_TURN_ENDED:
            break;
        case SG_TURN_FAULT:
            return false;
        default:
            return run_together(m);
        }
    }
    return true;
}
