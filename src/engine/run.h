// SPDX-License-Identifier: MIT
// One window on its way through the engine. Made by kr_window_run or kr_window_open, kept by the agent for
// the next.
#ifndef KR_RUN_H
#define KR_RUN_H

#include "engine/gate.h"
#include "engine/snapshot.h"

enum kr_plan {
    KR_PLAN_PLAIN,  // run once, as the program would have
    KR_PLAN_SINGLE, // run once, alone on the agent, with one group armed
    KR_PLAN_REPLAY, // snapshot and passes
};

enum kr_tool_slot { KR_TOOL_BUILTIN, KR_TOOL_USER, KR_TOOLS };

// What is each tool's own of a CONFIG or PASS record that both see.
struct kr_tool_view {
    union kreplay_user_data data[KR_TOOLS];
    int asker; // the tool whose continue_fn stands
};

// One operation of the window.
struct kr_op_run {
    struct kr_op *op;
    kreplay_config config;
    struct kr_tool_view config_view;
    kreplay_outcome_kind kind;
    kreplay_reason reason;
    bool asked;    // CONFIG was entered
    bool measured; // takes part in the next pass
    bool silent;   // no PASS callbacks: pass_count 1
    bool entered;  // PASS was entered and not left
    uint32_t requested, executed;
    kreplay_pass pass;
    struct kr_tool_view pass_view;
    kreplay_group *group;         // for the next pass
    kreplay_pass_record *records; // in the arena
    size_t record_count, record_capacity;
};

// How one execution of the window's operations ended.
enum kr_ran {
    KR_RAN,           // done, values read
    KR_RAN_UNREAD,    // done, values not read
    KR_RAN_ERROR,     // done, device error
    KR_NOT_ARMED,     // nothing was submitted
    KR_NOT_SUBMITTED, // some operation was refused; earlier ones may run
    KR_RAN_STUCK,     // not done in time
};

struct kr_chunk; // of the arena

struct kr_run {
    struct kr_engine *engine;
    struct kr_agent_state *agent;
    struct kr_window *window;

    struct kr_chunk *chunks; // arena: everything below that is pointed to
    struct kr_op_run *ops;
    size_t op_count;
    struct kr_op_result *live, *results;

    enum kr_plan plan;
    struct kr_run *outer;  // this one was submitted from inside that one
    struct kr_frame frame; // gates held as writer, while frame.engine is set
    bool reader;           // holds the agent's gate as reader
    uint64_t owners;       // agents whose memory is captured
    bool queue_drained, queue_stuck;
    bool detached;  // the back end finishes the window on its own
    bool search;    // a kernel is known as non-deterministic: restores compare first
    bool executing; // holds agent->executing: the back end has an execution that did not end
    bool replayed;  // memory is a pass's, not the live run's
    bool cut;       // something ran inside the window: no further pass
    bool clean;     // the last pass ran to its end
    uint32_t pass;  // under way, or the one that is restored for
    uint64_t live_ns;
    kreplay_outcome outcome; // what all operations share
    struct kr_stats stats;
};

// run.c
struct kr_run *kr_run_make(struct kr_engine *engine, struct kr_window *window); // NULL: out of memory
void kr_run_done(struct kr_run *run);
void kr_run_forget(struct kr_run *run);               // NULL is fine
void *kr_run_alloc(struct kr_run *run, size_t bytes); // zeroed, for the life of the run; NULL: out of memory

void kr_run_stop(struct kr_run *run, kreplay_reason reason); // what is still measured is declined: why
void kr_run_note(struct kr_run *run, kreplay_reason reason); // a reason for what has none yet, kinds stay
void kr_run_decline_all(struct kr_run *run, kreplay_reason reason); // of every dispatch, wanted or not
void kr_run_note_reentry(struct kr_run *run);
void kr_run_interrupt(
    struct kr_run *run); // another window runs inside this one: settle memory, end the passes
bool kr_run_any_measured(const struct kr_run *run);

// step.c: STEP callbacks around what is done with memory
struct kr_step_mark { // what the run's figures were when the step began
    kreplay_step_kind kind;
    uint64_t start_ns, compared_bytes, moved_bytes;
};
struct kr_step_mark kr_step_enter(struct kr_run *run, kreplay_step_kind kind);
// Returns the time that the step took. `moved_bytes`: what run->stats does not show.
uint64_t kr_step_exit(struct kr_run *run, const struct kr_step_mark *mark, kreplay_reason reason,
                      uint64_t moved_bytes);

// ask.c: CONFIG, the plan
void kr_run_ask(struct kr_run *run);

// admit.c: gate, admission, drains, snapshot
void kr_run_admit(struct kr_run *run);
bool kr_run_drain_queue(struct kr_run *run);

// execute.c: the program's own execution, and one execution in general
enum kr_ran kr_run_execute(struct kr_run *run, kreplay_group *group, uint64_t timeout_ns,
                           struct kr_op_result *results);
// The program's own execution with `group` armed, plain if that cannot be. True: its values were read.
// Otherwise the operations carry the reason, and run->detached tells whether the back end has to finish the
// window.
bool kr_run_live(struct kr_run *run, kreplay_group *group);
// After cancel or detach: what a stuck execution left open in the back end is closed.
void kr_run_execution_over(struct kr_run *run);
void kr_run_record(struct kr_run *run, uint32_t pass, kreplay_group *armed,
                   const struct kr_op_result *results);
void kr_run_plain(struct kr_run *run);
void kr_run_single(struct kr_run *run);

// passes.c
void kr_run_passes(struct kr_run *run);    // the live execution is among them where it is pass 0
bool kr_run_save_live(struct kr_run *run); // write set and S1; false: declined, the live result stands

// finish.c
void kr_run_settle(struct kr_run *run); // memory becomes the live result, if it is not
void kr_run_close(struct kr_run *run);  // records, gate, completion

// outcome.c
kreplay_outcome kr_run_outcome(const struct kr_run *run, const struct kr_op_run *op);

// unsteady.c
bool kr_unsteady_any(struct kr_engine *engine, const struct kr_run *run);
void kr_unsteady_note(struct kr_engine *engine, const struct kr_run *run);

#endif
