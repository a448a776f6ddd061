// SPDX-License-Identifier: MIT
// kreplay's public API for tool authors: be told of every kernel dispatch, decide how often it is run and
// what each pass collects, and receive the values. C17, also valid C++. How to build and load a tool, with
// samples: docs/tools.md.
//
// Life of one dispatch that the program asked for:
//
//   config ENTER -> (pass ENTER -> run -> pass EXIT -> continue?) x passes -> dispatch record -> config EXIT
//
// with the steps of a replay in between: SNAPSHOT after config ENTER, COMPARE after the live execution,
// RESTORE before each further pass, FINISH before the record.
//
// Threads. config, pass, continue, step and dispatch callbacks of one agent come one at a time, on the thread
// that runs the window: on AMD GPUs a thread of kreplay's, one for each agent; on NVIDIA GPUs the program's
// thread inside its launch call. Different agents call at the same time. agent, code object, kernel and
// message callbacks and fini come one at a time, on any thread, also beside the others; agent callbacks come
// while the GPU's runtime starts.
//
// Order. What is shown above holds within one dispatch. Records of one agent come in the order in which its
// windows end; nothing is ordered between agents. Code objects and kernels are told before the first dispatch
// of theirs.
//
// What a callback may call: every function below, and libc. From config, pass, continue, step and dispatch
// callbacks also the GPU's runtime, with these consequences: a dispatch on the same agent runs once,
// un-replayed (REENTRANT_DISPATCH if a tool wants it): on AMD GPUs after the window, on NVIDIA GPUs at once,
// where it ends the passes of the dispatch that is under way. It must not be waited for inside the callback.
// Work on another agent may wait there for a window of that agent; callbacks of two agents that wait for each
// other's never end. agent, code object, kernel and message callbacks and
// fini must not call the GPU's runtime. A callback must not throw, and must not block for long: the window's
// gate is closed meanwhile.
//
// filter is the exception, and with it the dispatch record of what no filter wants: on AMD GPUs they come on the
// thread that submits, inside its launch call, for several threads at a time and beside all other callbacks.
// They must not call the GPU's runtime, nor wait for anything.
//
// Two tools can be there: kreplay's own, which counts what --pmc asks for and writes the log, and one of the
// user's. Both are called with the same records, kreplay's own first at ENTER and last at EXIT; so the user's
// sees what is planned and may change it, and what it makes a pass collect is in kreplay's log. Of user_data
// each has its own.
//
// Every record starts with its size: a tool built against an older header reads the fields it knows. Fields
// are only ever added at the end. Pointers in records live only until the callback returns.
#ifndef KREPLAY_KREPLAY_H
#define KREPLAY_KREPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KREPLAY_API __attribute__((visibility("default")))
#else
#define KREPLAY_API
#endif

// Status codes: name, value, text. Functions return 0 or one of the negative values.
#define KREPLAY_STATUS_MAP(X)                                                                                \
    X(OK, 0, "success")                                                                                      \
    X(INVALID, -1, "invalid argument")                                                                       \
    X(NO_MEMORY, -2, "out of memory")                                                                        \
    X(ALREADY_REGISTERED, -3, "a tool is registered already")                                                \
    X(LOCKED, -4, "too late: collection has started")                                                        \
    X(NOT_FOUND, -5, "not found")                                                                            \
    X(UNKNOWN_COUNTER, -6, "no counter of this name on this agent")                                          \
    X(NO_SLOT, -7, "more counters of a block than it has registers")                                         \
    X(UNAVAILABLE, -8, "the device or its counter library does not offer this")                              \
    X(TIMEOUT, -9, "a bounded wait ran out")                                                                 \
    X(IO, -10, "input or output error")                                                                      \
    X(CORRUPT, -11, "damaged data")                                                                          \
    X(DEVICE, -12, "the device or its runtime reported an error")                                            \
    X(UNSUPPORTED, -13, "not supported")                                                                     \
    X(END, -14, "no more records")

typedef enum kreplay_status {
#define X(name, value, text) KREPLAY_##name = value,
    KREPLAY_STATUS_MAP(X)
#undef X
} kreplay_status;

KREPLAY_API const char *kreplay_status_text(int status); // never NULL

// What became of a dispatch.
typedef enum kreplay_outcome_kind {
    KREPLAY_REPLAYED = 0, // all passes that the tool asked for, or as many as it let go on
    KREPLAY_SINGLE = 1, // one pass by request: run once, with the group of the config record if there is one
    KREPLAY_FILTERED = 2, // the tool did not want it: run once
    KREPLAY_DECLINED = 3, // run once although passes were asked for; `reason` says why
} kreplay_outcome_kind;

// Reasons: name, number (stored in logs: never renumber), key used in outputs, explanation for a person.
#define KREPLAY_REASON_MAP(X)                                                                                \
    X(NONE, 0, "none", "replayed as asked")                                                                  \
    X(UNTRACKED_MEMORY, 1, "untracked_memory", "device memory exists that could not be put back")            \
    X(FOOTPRINT_BUDGET, 2, "footprint_budget", "the snapshot would be larger than the budget")               \
    X(SNAPSHOT_FAILED, 3, "snapshot_failed", "a copy or an allocation failed while capturing")               \
    X(QUEUE_DRAIN_STUCK, 4, "queue_drain_stuck", "earlier work of this queue did not finish in time")        \
    X(AGENT_DRAIN_STUCK, 5, "agent_drain_stuck", "other work of this GPU did not finish in time")            \
    X(LIVE_RUN_STUCK, 6, "live_run_stuck", "the dispatch itself did not finish in time")                     \
    X(PASS_STUCK, 7, "pass_stuck", "a pass ran much longer than the live run and was cancelled")             \
    X(REENTRANT_DISPATCH, 8, "reentrant_dispatch", "submitted from inside a window of this GPU")             \
    X(COUNTERS_UNAVAILABLE, 9, "counters_unavailable", "the counters of a group could not be armed or read") \
    X(HOST_MEMORY, 10, "host_memory", "the kernel can reach host memory, which is not put back")             \
    X(OPEN_ENDED, 11, "open_ended_without_continue", "pass count 0 needs a continue callback")               \
    X(UNSAFE_KERNEL, 12, "unsafe_kernel", "the kernel has effects that a repetition would repeat")           \
    X(DEVICE_ERROR, 13, "device_error", "the device reported an error in the window")                        \
    X(NO_COUNTERS_FOR_AGENT, 14, "no_counters_for_agent", "no requested counter exists on this GPU")         \
    X(PROGRAM_ENDING, 15, "program_ending", "the program was ending")                                        \
    X(UNKNOWN_PACKET, 16, "unknown_packet", "a packet of a kind that replay does not handle")                \
    X(STREAM_CAPTURE, 17, "stream_capture", "a stream was being captured into a graph at the time")          \
    X(NOT_SELECTED, 18, "not_selected", "the options leave this dispatch out")

typedef enum kreplay_reason {
#define X(name, number, key, text) KREPLAY_REASON_##name = number,
    KREPLAY_REASON_MAP(X)
#undef X
} kreplay_reason;

KREPLAY_API const char *kreplay_reason_key(kreplay_reason reason);  // never NULL
KREPLAY_API const char *kreplay_reason_text(kreplay_reason reason); // never NULL

typedef enum kreplay_phase { KREPLAY_ENTER = 0, KREPLAY_EXIT = 1 } kreplay_phase;

// One GPU.
typedef struct kreplay_agent {
    size_t size;
    uint32_t agent_id;   // index from 0 over the GPUs, in the runtime's order
    uint32_t node_id;    // the driver's topology node
    const char *name;    // architecture, for example "gfx90a"
    const char *product; // marketing name
    const char *vendor;
    uint32_t compute_units, shader_engines, simds_per_cu, wave_size, max_waves_per_cu;
    uint32_t lds_bytes; // per work-group
    uint32_t max_clock_mhz;
    uint64_t memory_bytes; // device-local
} kreplay_agent;

// One code object loaded on an agent.
typedef struct kreplay_code_object {
    size_t size;
    uint64_t code_object_id; // from 1
    uint32_t agent_id;
    const char *uri; // as the loader gives it
    uint64_t load_base, load_bytes;
    int64_t load_delta;
} kreplay_code_object;

// One kernel of a code object.
typedef struct kreplay_kernel {
    size_t size;
    uint64_t kernel_id; // from 1
    uint64_t code_object_id;
    uint32_t agent_id;
    const char *name; // mangled, without the ".kd" suffix
    uint32_t kernarg_bytes, group_segment_bytes, private_segment_bytes;
    uint32_t arch_vgprs, accum_vgprs, sgprs; // 0 = unknown
} kreplay_kernel;

// One counter of an agent.
typedef struct kreplay_counter {
    size_t size;
    uint64_t counter_id; // unique over agents, from 1
    uint32_t agent_id;
    const char *name, *block, *description; // description may be ""
    const char *expression;                 // derived counters; "" for hardware counters
    uint32_t event;                         // number in the block's select register
    uint32_t instances;                     // values per dispatch; 0 = known only when read
} kreplay_counter;

typedef struct kreplay_dispatch {
    size_t size;
    uint64_t dispatch_id; // from 1, in submission order over the process
    uint32_t agent_id;
    uint64_t queue_id; // from 1
    uint64_t kernel_id;
    const char *kernel_name; // mangled
    uint64_t thread_id;      // kernel's id of the submitting thread
    uint32_t workgroup[3];   // work-items
    uint32_t grid[3];        // work-items
    uint32_t private_segment_bytes, group_segment_bytes;
} kreplay_dispatch;

typedef struct kreplay_group kreplay_group; // opaque: counters that are armed together on one agent

union kreplay_user_data {
    void *pointer;
    uint64_t value;
};

// Asked after a pass (see pass_count below); non-zero = go on. `user_data` is the copy of that pass.
typedef int (*kreplay_continue_fn)(const kreplay_dispatch *dispatch, uint32_t current_pass,
                                   uint32_t total_passes, union kreplay_user_data user_data);

// CONFIG: written by the tool at ENTER. Comes for every candidate dispatch, replayed or not.
typedef struct kreplay_config {
    size_t size;
    const kreplay_dispatch *dispatch;
    bool want; // false (default): filtered, run once, nothing collected
    // 1 (default): run once on the ordinary path, no snapshot, no PASS callbacks; `group` is collected if
    // set. N > 1: exactly N passes, or at most N if continue_fn is set; asked after passes 0..N-2 only. 0:
    // open-ended, asked after every pass; without continue_fn the dispatch is declined. KREPLAY_OPEN_PASSES
    // (10000) is the limit of the open-ended ones.
    uint32_t pass_count;
    kreplay_continue_fn continue_fn;
    kreplay_group *group;              // for pass_count 1 only
    union kreplay_user_data user_data; // start value of each PASS ENTER
    // continue_fn is not asked before this many passes have run. More than pass_count counts as pass_count.
    uint32_t min_passes;
} kreplay_config;

typedef enum kreplay_value_kind {
    KREPLAY_VALUE_COUNT = 0,  // a whole number, exact
    KREPLAY_VALUE_DOUBLE = 1, // a rate, a share, an average
} kreplay_value_kind;

typedef struct kreplay_value {
    uint64_t counter_id;
    uint32_t instance; // of the block, from 0
    kreplay_value_kind kind;
    union {
        uint64_t value; // KREPLAY_VALUE_COUNT
        double real;    // KREPLAY_VALUE_DOUBLE
    };
} kreplay_value;

// What one pass measured.
typedef struct kreplay_pass_record {
    size_t size;
    uint32_t pass;             // from 0
    uint64_t start_ns, end_ns; // of this execution, in the runtime's system clock
    const kreplay_value *values;
    size_t value_count;
} kreplay_pass_record;

// PASS: one ENTER and one EXIT per executed pass.
typedef struct kreplay_pass {
    size_t size;
    const kreplay_dispatch *dispatch;
    uint32_t current_pass; // from 0
    uint32_t total_passes; // as asked; 0 = open-ended
    kreplay_group *group;  // written by the tool at ENTER; NULL = nothing armed in this pass
    // A write is seen in the rest of this pass, continue_fn's question after it included, and not later.
    union kreplay_user_data user_data;
    // CONFIG's. A tool may write another one for the question after this pass only. NULL: no question, the
    // passes go on; the open-ended ones end.
    kreplay_continue_fn continue_fn;
    const kreplay_pass_record *record; // at EXIT: what was measured; NULL = the pass did not come about
} kreplay_pass;

// What a window does with memory.
typedef enum kreplay_step_kind {
    KREPLAY_STEP_SNAPSHOT = 0, // captured memory is copied
    KREPLAY_STEP_COMPARE = 1,  // what did the live execution change? That is saved, too.
    KREPLAY_STEP_RESTORE = 2,  // that is undone before a pass
    KREPLAY_STEP_FINISH = 3,   // memory becomes again what the live execution left
} kreplay_step_kind;

// STEP: one ENTER and one EXIT around each.
typedef struct kreplay_step {
    size_t size;
    const kreplay_dispatch *dispatch; // the first one of the window
    uint64_t window_id;
    kreplay_step_kind kind;
    uint32_t pass; // RESTORE: the pass that follows; else 0
    // Known at EXIT, 0 at ENTER.
    kreplay_reason reason; // why no pass follows; NONE = all is well
    uint64_t duration_ns, compared_bytes, moved_bytes;
} kreplay_step;

// How a window went. All times in ns, sizes in bytes.
typedef struct kreplay_outcome {
    size_t size;
    kreplay_outcome_kind kind;
    kreplay_reason reason;
    uint32_t requested_passes, executed_passes; // requested 0 = open-ended
    bool deterministic; // false: the last compare found memory that differs from the live run's result
    bool reentrant;     // something was submitted from inside the window
    uint64_t captured_bytes, captured_regions; // footprint
    uint64_t untracked_bytes, untracked_regions;
    uint64_t compared_bytes, write_set_bytes, restored_bytes;
    uint32_t restores, restore_retries;
    uint64_t gate_ns, drain_ns, snapshot_ns, live_ns, compare_ns, restore_ns, passes_ns, finish_ns;
    uint64_t untracked_vmem_bytes, untracked_vmem_regions; // of the untracked: mappings of virtual memory
    // Counters of several passes whose values differ beyond their tolerance. The engine leaves it 0: the
    // built-in tool, which knows what was asked for, writes it into its log.
    uint32_t disagreements;
} kreplay_outcome;

// Everything about one dispatch, when it is over and before the program is told so.
typedef struct kreplay_dispatch_record {
    size_t size;
    const kreplay_dispatch *dispatch;
    uint64_t window_id;        // dispatches of one window share it
    uint64_t start_ns, end_ns; // of the live execution; 0 when unknown
    const kreplay_outcome *outcome;
    const kreplay_pass_record *passes;
    size_t pass_count;
} kreplay_dispatch_record;

// A tool. Any callback may be NULL. `tool` is passed to each.
typedef struct kreplay_tool {
    size_t size;
    const char *name;
    void *tool;
    void (*agent)(void *tool, const kreplay_agent *agent);
    void (*code_object)(void *tool, const kreplay_code_object *code_object);
    void (*kernel)(void *tool, const kreplay_kernel *kernel);
    void (*config)(void *tool, kreplay_phase phase, kreplay_config *config);
    void (*pass)(void *tool, kreplay_phase phase, kreplay_pass *pass);
    void (*dispatch)(void *tool, const kreplay_dispatch_record *record);
    void (*message)(void *tool, const char *text); // what kreplay said to stderr, for the record
    // Last call; missing when the process is killed. It may come behind the destructors of the program and of
    // the GPU's runtime, which must not be called then; kreplay_group_destroy() can be.
    void (*fini)(void *tool);
    void (*step)(void *tool, kreplay_phase phase, const kreplay_step *step);
    // Asked once for each dispatch, before anything else. `wanted` is what the tool asked before says (false:
    // there is none); the last answer stands. false: the dispatch is filtered and config does not come for it.
    // On AMD GPUs it then passes on at once, where config would have held it back until its turn, and has no
    // times in its record, which comes when it is submitted. *user_data is 0, and config's start value. A tool
    // without it that has config or dispatch wants every dispatch, to be asked and told where it expects it.
    // See "Threads" above for what it may do.
    bool (*filter)(void *tool, const kreplay_dispatch *dispatch, bool wanted,
                   union kreplay_user_data *user_data);
} kreplay_tool;

// Registers the user's tool, the one of the process. Copies the struct. KREPLAY_ALREADY_REGISTERED on a second
// call, KREPLAY_LOCKED after the first dispatch. What is known already (agents, code objects, kernels) is told
// before it returns.
KREPLAY_API int kreplay_register(const kreplay_tool *tool);

// Defined by a tool's library, not by kreplay, which loads the library (--tool, KREPLAY_TOOL) and calls this
// once while the GPU's runtime starts, on the thread that starts it. Registers and returns 0; any other value
// is said as an error, and the tool is not used.
KREPLAY_API int kreplay_tool_start(void);

// Each calls `visit` for all that is known so far until it returns non-zero, which is then returned. What has
// been unloaded stays known.
KREPLAY_API int kreplay_agents(int (*visit)(void *arg, const kreplay_agent *agent), void *arg);
KREPLAY_API int kreplay_code_objects(int (*visit)(void *arg, const kreplay_code_object *code_object),
                                     void *arg);
KREPLAY_API int kreplay_kernels(int (*visit)(void *arg, const kreplay_kernel *kernel), void *arg);

// Calls `visit` for every counter of the agent until it returns non-zero, which is then returned.
KREPLAY_API int kreplay_counters(uint32_t agent_id, int (*visit)(void *arg, const kreplay_counter *counter),
                                 void *arg);

// Makes a group from counter names. On error *group is NULL and `error` (may be NULL) says what is wrong and
// with which counter. KREPLAY_UNKNOWN_COUNTER, KREPLAY_NO_SLOT, KREPLAY_UNAVAILABLE, KREPLAY_NO_MEMORY.
KREPLAY_API int kreplay_group_create(uint32_t agent_id, const char *const *names, size_t count,
                                     kreplay_group **group, char *error, size_t error_bytes);
// No dispatch that uses the group may be between its CONFIG ENTER and EXIT. NULL is fine.
KREPLAY_API void kreplay_group_destroy(kreplay_group *group);

#ifdef __cplusplus
}
#endif
#endif
