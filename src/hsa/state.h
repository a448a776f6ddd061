// SPDX-License-Identifier: MIT
// What the HSA back end knows: the runtime's functions, the GPUs, the program's queues and the windows in
// flight. One per process, since the runtime and its API table are one per process.
//
// Locks. kr_hsa.lock guards start-up only. kr_hsa_agent.lock guards the agent's queue list, the queues' lists
// of dispatches and the worker's flags. What only the worker thread touches (private queue, slots, current
// dispatch) needs no lock. Lock order: gate of the engine, then agent lock. Under the agent lock nothing is
// called that may wait or call back; of the runtime only loads of signals, and once the creation of the
// private queue.
#ifndef KR_HSA_STATE_H
#define KR_HSA_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <hsa/amd_hsa_signal.h>

#include "counters/catalogue.h"
#include "engine/bounds.h"
#include "engine/engine.h"
#include "hsa/private_queue.h"
#include "hsa/table.h"

#define KR_HSA_MAX_AGENTS 64

struct kr_hsa_agent;
struct kr_hsa_queue;
struct kr_hsa_kernel;
struct kr_hsa_group;

// Signals of one operation in a pass.
struct kr_hsa_slot {
    hsa_signal_t done;    // of the dispatch: its times
    hsa_signal_t counted; // of the packet that stops the counters
};

// One dispatch of the program on its way: made in the intercept callback, run and freed by the agent's
// worker.
struct kr_hsa_dispatch {
    struct kr_hsa_dispatch *next; // in the queue's list, or the worker's list of detached ones
    struct kr_hsa_queue *queue;
    uint64_t sequence;      // arrival order on the agent
    uint64_t barrier;       // A is reached when the hardware has passed this many of our barriers
    uint64_t ordinal;       // of its gate in its queue, from 0: parity picks the signal
    uint64_t unheld_before; // see kr_hsa_queue.unheld_count
    hsa_kernel_dispatch_packet_t packet; // with the program's completion signal
    const struct kr_hsa_kernel *kernel;  // NULL if the code object is not known
    struct kr_op op;
    struct kr_window window;
    bool submitted, detached;
    bool live_done;      // the live execution has ended,
    bool live_known;     // and its times are known
    hsa_status_t failed; // the error that it ended in, or HSA_STATUS_SUCCESS
    bool in_flight;      // it was handed to the worker, see flight.h
    bool recorded;       // it has its record and is counted in agent->recorded
    // Runs in the program's queue, between two gates: `own_done` is in its packet there. Else handle 0.
    hsa_signal_t own_done;
    uint64_t start_ticks, end_ticks; // device times of the live execution
    // Of a detached dispatch: where it still runs, and its signals.
    struct kr_hsa_private_queue runs_on;
    struct kr_hsa_slot runs_in;
    hsa_signal_t runs_until;           // the last of runs_in
    struct kr_hsa_group *runs_counted; // whose packets are around it: kept while they may run, or NULL
};

// An intercepted queue of the program. The callback's fields are guarded by the runtime, which calls it for
// one doorbell at a time on each queue.
struct kr_hsa_queue {
    struct kr_hsa_queue *next;
    struct kr_hsa_agent *agent;
    hsa_queue_t *handle;
    uint64_t id;
    kr_hsa_queue_error_fn error_callback; // the program's, may be NULL
    void *error_data;
    // Counts our barriers down as the hardware passes them: barriers passed = KR_HSA_PROGRESS_START - value.
    hsa_signal_t progress;
    // Gate n, a barrier packet, waits for gates[n % 2] to be 0. See worker.c for why two are enough.
    hsa_signal_t gates[2];
    bool in_place;     // its dispatches must run in this queue itself
    _Atomic bool dead; // an error of a dispatch of the program's: nothing in it runs any more
    bool telling;      // the program of the error; agent lock
    bool destroyed;    // by the program, whose signals may be gone; agent lock
    bool gone;         // from the runtime, too: after its last dispatch it is freed; agent lock

    uint64_t written, barriers, gate_count; // callback's: packets, our marks, gates so far
    uint64_t unmarked;                      // callback's: packets since the last of our barriers
    uint64_t *written_at;                   // callback's: `written` at barrier n, at index n % ring_size
    uint32_t ring_size;
    void *scratch; // callback's: packets being put together
    size_t scratch_packets;

    struct kr_hsa_dispatch *head, **tail; // waiting, in submission order; agent lock
    uint32_t unfinished;                  // dispatches not completed yet; agent lock

    // Dispatches that pass on; see unheld.h. The counts are guarded by the agent lock.
    hsa_signal_t unheld;      // counts them down as they end
    uint64_t unheld_count;    // passed on so far
    uint64_t unheld_released; // of these, in front of the first gate that is shut: only they can run
    uint32_t gates_shut;      // held dispatches behind which the queue does not go on yet
    bool doubtful;            // callback's: a packet behind the last gate may wait for something
};

#define KR_HSA_PROGRESS_START (INT64_C(1) << 62)

// Host memory that GPUs can reach, as it was when a window began; see host_pointers.h.
struct kr_hsa_range {
    uintptr_t base;
    size_t bytes;
};
struct kr_hsa_host_ranges {
    struct kr_hsa_range *list; // ascending, disjoint
    size_t count, capacity;
    bool looking, found, incomplete;
};

// Whether the host moves and compares this GPU's memory itself; see reach.h.
enum kr_hsa_reach { KR_HSA_REACH_UNKNOWN, KR_HSA_REACH_NONE, KR_HSA_REACH_HOST };

struct kr_hsa_agent {
    hsa_agent_t handle;
    uint32_t id;
    char name[64], product[64], vendor[64];
    uint32_t queue_max_size;
    uint64_t first_counter_id;
    const struct kr_catalogue *catalogue; // NULL: none for this architecture
    hsa_amd_memory_pool_t device_pool;    // coarse-grained; handle 0 = none
    uint64_t device_bytes;
    _Atomic uint64_t device_used; // the program's and kreplay's allocations in device_pool, about

    pthread_mutex_t lock;
    pthread_cond_t work;     // for the worker
    pthread_cond_t finished; // for who waits for dispatches to be over
    pthread_t worker;
    bool worker_started, worker_done, stopping;
    bool settled;             // of a stop: whatever may still run has its record
    _Atomic bool quit;        // the runtime ends: the worker ends at once
    uint64_t decline_from_ns; // of a stop: from then on nothing is replayed
    struct kr_hsa_queue *queues;
    uint64_t sequence;
    _Atomic uint32_t detached_count;
    _Atomic uint32_t recorded; // unfinished dispatches that have their record

    // The worker's, except where another agent's window holds this agent's gate.
    struct kr_hsa_private_queue runner;
    struct kr_hsa_dispatch *current; // under way
    struct kr_hsa_slot *slots;
    size_t slot_count;
    struct kr_hsa_dispatch *detached;
    struct kr_hsa_dispatch *failed; // whose error the program has not been told of
    struct kr_hsa_group *group;     // of the pass under way
    hsa_signal_t late_copies[8];    // of lists of copies that did not end in time
    size_t late_copy_count;
    bool copies_lost;      // there were more of them than can be followed
    hsa_signal_t straying; // of a pass that could not be stopped: counts down when it ends; else handle 0
    struct kr_op **ops;
    size_t op_count, op_capacity;
    struct kr_hsa_host_ranges host_ranges;
    enum kr_hsa_reach reach;
    void *bounce[2];     // host buffers for comparing
    hsa_signal_t copied; // counts the copies of a list down; handle 0 = not made yet
};

// A memory pool (or region) of an agent.
struct kr_hsa_pool {
    uint64_t handle;
    int agent; // of the GPU that owns it; -1 = host
    bool kernarg;
    uint32_t global_flags;
};

struct kr_hsa {
    struct kr_hsa_table table;
    struct kr_hsa_api api;
    struct kr_engine *engine;
    struct kr_bounds bounds;
    pid_t owner;                // process that loaded us; a fork child is inert
    _Atomic bool active, ended; // hooks do their work while active and not ended
    _Atomic bool stopped;       // ended, and no worker is left
    _Atomic bool closed;        // the tool has had its last call, or gets it now
    _Atomic bool going_down;    // and it is the process's end: no call into the runtime any more
    _Atomic int users;          // threads inside a hook, see kr_hsa_hold

    pthread_mutex_t lock;
    _Atomic bool started;
    uint64_t timestamp_hz;
    bool any_memory; // GPUs may reach all of the process's memory, allocated for them or not
    hsa_agent_t cpu;
    hsa_amd_memory_pool_t host_pool; // fine-grained host memory for kreplay's buffers
    struct kr_hsa_pool *pools;
    size_t pool_count;
    struct kr_hsa_agent agents[KR_HSA_MAX_AGENTS];
    uint32_t agent_count;
};

extern struct kr_hsa kr_hsa;

// True if hooks are to do their work; kr_hsa_release() must follow then. False: call the runtime and nothing
// else. Brings up the agents on first use.
bool kr_hsa_hold(void);
// The same between kr_hsa_end() and the tool's last call: no worker is there, but records can be written.
bool kr_hsa_hold_ended(void);
void kr_hsa_release(void);

// The GPU with this handle, or NULL.
struct kr_hsa_agent *kr_hsa_agent_of(hsa_agent_t agent);

// The agent whose worker the calling thread is, or NULL.
struct kr_hsa_agent *kr_hsa_worker_self(void);

// Gates of all agents, or of one, in id order.
void kr_hsa_gates_enter(const struct kr_hsa_agent *only);
void kr_hsa_gates_leave(const struct kr_hsa_agent *only);

// Something goes on on this GPU (NULL: on all) that kreplay cannot see: says so, and nothing is replayed there
// any more. Waits for a window that is open. `what` is a sentence without its end.
void kr_hsa_blind(const struct kr_hsa_agent *only, kreplay_reason reason, const char *what);

const char *kr_hsa_status_text(hsa_status_t status);

// System-domain ticks of the runtime to nanoseconds.
uint64_t kr_hsa_ticks_to_ns(uint64_t ticks);

#endif
