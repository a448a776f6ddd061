// SPDX-License-Identifier: MIT
// The replay engine as a back end sees it: agents, inventory, gate, windows. One engine a process; the public
// API (include/kreplay/kreplay.h) works on the one made last by kr_engine_create.
#ifndef KR_ENGINE_H
#define KR_ENGINE_H

#include "engine/backend.h"
#include "engine/level.h"

struct kr_engine;

// Bounded waits, budgets and other numbers come from one const table (engine/bounds.h) with environment
// overrides, read once here. `backend` must outlive the engine; `ctx` is passed to each of its functions.
int kr_engine_create(const struct kr_backend *backend, void *ctx, struct kr_engine **out);
void kr_engine_destroy(struct kr_engine *engine); // tells the tool fini; no window may be open
// Tells the tool fini now and nothing after it: for a process that goes down, where the rest is not worth
// destroying.
void kr_engine_end_tool(struct kr_engine *engine);

// Adds agent number info->agent_id (0, 1, ... in order) and tells the tool.
int kr_engine_add_agent(struct kr_engine *engine, const kreplay_agent *info);

// Passed on to the tool. Ids are given by the caller (kr_engine_new_id).
void kr_engine_code_object(struct kr_engine *engine, const kreplay_code_object *code_object);
void kr_engine_kernel(struct kr_engine *engine, const kreplay_kernel *kernel);
// Prints "kreplay: text" to stderr and tells the tool, unless KREPLAY_LOG_LEVEL stands before `level`.
void kr_engine_say(struct kr_engine *engine, enum kr_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same at warning level.
void kr_engine_message(struct kr_engine *engine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A dispatch that goes to the device without a window, whose execution nobody watches: declined, without
// times.
void kr_engine_record_unseen(struct kr_engine *engine, const kreplay_dispatch *dispatch,
                             kreplay_reason reason);

// Asks the tools' filters, once for each dispatch. False: none wants it, so it needs no window. A back end that
// lets it go to the device by itself records it first.
bool kr_engine_screen(struct kr_engine *engine, struct kr_op *op);
void kr_engine_record_filtered(struct kr_engine *engine, const kreplay_dispatch *dispatch);

enum kr_id { KR_ID_DISPATCH, KR_ID_KERNEL, KR_ID_CODE_OBJECT, KR_ID_QUEUE, KR_ID_COUNT };
uint64_t kr_engine_new_id(struct kr_engine *engine, enum kr_id which); // from 1, thread-safe

// `accessor` may reach device memory of `owner`, from now on: their windows then exclude each other and
// capture what both can write. Called outside both gates, before the runtime grants the access.
void kr_engine_allow_access(struct kr_engine *engine, uint32_t owner, uint32_t accessor);

// From now on something of the agent's goes on that windows cannot know of: none is replayed any more, for
// this reason (the first one given stands). Called inside the agent's gate, before it happens.
void kr_engine_blind(struct kr_engine *engine, uint32_t agent, kreplay_reason reason);

// The program's own allocation did not fit: gives the snapshot's buffers of the agent back. Called as a
// reader of the agent's gate. Returns the bytes given back; 0 = a retry is pointless.
uint64_t kr_engine_give_back(struct kr_engine *engine, uint32_t agent);

// False while no tool is registered: a back end may then leave everything alone.
bool kr_engine_active(struct kr_engine *engine);

// ---- Inventory: what must be put back. Thread-safe. Each entry gets a new generation.
enum kr_memory_kind {
    KR_MEMORY_DEVICE,    // coarse or fine-grained device memory: captured
    KR_MEMORY_MODULE,    // writable module variable: captured
    KR_MEMORY_UNTRACKED, // mutable device memory that cannot be captured: counted, declines
    KR_MEMORY_HOST, // host memory that the device can write: not captured, kernel arguments into it decline
};
#define KR_ANY_AGENT UINT32_MAX // for KR_MEMORY_UNTRACKED: each may be able to write it
int kr_inventory_add(struct kr_engine *engine, uint32_t agent, void *base, size_t bytes,
                     enum kr_memory_kind kind);
// An untracked mapping of virtual memory, which diagnostics count apart.
int kr_inventory_add_vmem(struct kr_engine *engine, uint32_t agent, void *base, size_t bytes);
void kr_inventory_remove(struct kr_engine *engine, void *base); // unknown bases are ignored
size_t kr_inventory_remove_range(struct kr_engine *engine, void *base, size_t bytes); // how many began in it
// Removes for a free that may fail; what was taken (false: nothing) comes back then, as new. KREPLAY_NO_MEMORY: it did not.
struct kr_taken {
    void *base;
    size_t bytes;
    uint32_t agent;
    enum kr_memory_kind kind;
    bool vmem;
};
bool kr_inventory_take(struct kr_engine *engine, void *base, struct kr_taken *taken);
int kr_inventory_put_back(struct kr_engine *engine, const struct kr_taken *taken);
// Calls `visit` for every entry of the kind, with the inventory's lock held.
void kr_inventory_visit(struct kr_engine *engine, enum kr_memory_kind kind,
                        void (*visit)(void *arg, const void *base, size_t bytes), void *arg);
// Kind of the entry that holds `address`; false if none does. base/bytes may be NULL.
bool kr_inventory_find(struct kr_engine *engine, const void *address, enum kr_memory_kind *kind, void **base,
                       size_t *bytes);

// Is the memory at `address` captured by windows of `agent`: its own, or that of a GPU that lets it in?
bool kr_inventory_covers(struct kr_engine *engine, uint32_t agent, const void *address);

// ---- Gate: ordinary submissions, copies, allocations and frees hold it as readers, a window as writer. A
// thread that is inside its own window on that agent passes (re-entrancy is noted on the window). Entries
// nest; a thread that enters several does so in id order, as windows close them, or both wait for each other until
// the window gives up. A free is told to the inventory inside the gate, before it happens.
void kr_gate_enter(struct kr_engine *engine, uint32_t agent);
void kr_gate_leave(struct kr_engine *engine, uint32_t agent);
// Enters if that can be without waiting, and from outside: false while a window is open or about to be, the
// calling thread's own included.
bool kr_gate_try_enter(struct kr_engine *engine, uint32_t agent);
// Is the calling thread inside a window of its own that has this agent's gate?
bool kr_gate_inside(struct kr_engine *engine, uint32_t agent);

// ---- Windows
struct kr_window {
    // filled by the back end
    uint32_t agent;
    void *queue; // handed to drain_queue
    struct kr_op *ops;
    size_t op_count;
    void *backend; // the back end's own
    // the engine's
    bool wanted; // by a tool, to be measured: known when it is open
    uint64_t window_id;
    void *state;
};

// Runs the window from gate to completion on the calling thread: asks the tool, admits, drains, snapshots,
// runs live and passes, finishes, records, completes. Whatever happens, each operation is executed exactly
// once as far as the program can see, and complete() or detach() has been called. A failure that leaves no
// correct continuation aborts. A window run from inside another one of the same thread and agent runs at
// once, un-replayed (REENTRANT_DISPATCH); it ends the passes of the outer window, whose live result is put
// back first.
void kr_window_run(struct kr_engine *engine, struct kr_window *window);

// The same in two halves for back ends whose program launches the live execution itself: everything up to the
// snapshot, and everything from the live execution on. Close must follow open on the same thread.
void kr_window_open(struct kr_engine *engine, struct kr_window *window);
void kr_window_close(struct kr_engine *engine, struct kr_window *window);

#endif
