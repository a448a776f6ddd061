// SPDX-License-Identifier: MIT
// The interpreter as the command processor sees it: one kernel launch in, counts per shader engine or a fault
// out. Nothing here knows about queues, packets or the thunk. All addresses are host addresses (identity
// mapped).
#ifndef SG_ISA_H
#define SG_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Shader engines of the emulated die (MI200 has 8). Work-group g runs on engine g % SG_SHADER_ENGINES.
#define SG_SHADER_ENGINES 8

// Core clocks in a tick of the launch's clock (25 MHz): what a die of 1700 MHz, its nominal clock, would count.
#define SG_CORE_CLOCKS 68

// Global wave sync: counters at which waves of a whole dispatch meet. They belong to a queue and outlive
// launches: one dispatch initialises what the next one uses. Zero-initialised is valid; used by one launch at a
// time.
#define SG_GWS_RESOURCES 64
struct sg_gws {
    uint32_t
        counter[SG_GWS_RESOURCES]; // waves that a barrier still waits for but the last; units of a semaphore
    uint32_t phase[SG_GWS_RESOURCES]; // changes when all that wait are released
};

struct sg_group;
struct sg_wave;
struct sg_inst;

// Looks on while a launch runs, for counters that need more than instruction classes. A launch that is watched runs on
// the calling thread alone, and its waves take turns often, so that what is seen, and in which order, is the same
// whatever the host. `group->watched` belongs to the watcher.
struct sg_watch {
    void (*group_begins)(struct sg_watch *watch, struct sg_group *group, const struct sg_wave *waves,
                         uint64_t number);
    // Before it runs, its registers as they were; the PC already points behind it.
    void (*instruction)(struct sg_watch *watch, struct sg_wave *wave, const struct sg_inst *inst);
    void (*barrier_passed)(struct sg_watch *watch, struct sg_group *group);
    void (*group_ends)(struct sg_watch *watch, struct sg_group *group);
};

// The 64-byte AMD kernel descriptor, reduced to what a launch needs. The old amd_kernel_code_t has the entry
// offset, rsrc1, rsrc2 and property bits at the same byte offsets, so both kinds decode alike.
// Source: LLVM "User Guide for AMDGPU Backend", Kernel Descriptor.
struct sg_launch {
    const char *kernel_name;                         // for messages; "?" when unknown, never NULL
    uint64_t entry;                                  // address of the first instruction
    uint32_t rsrc1, rsrc2, rsrc3;                    // COMPUTE_PGM_RSRC1..3
    uint16_t properties;                             // kernel code properties (which user SGPRs are enabled)
    uint32_t grid[3];                                // work-items
    uint32_t workgroup[3];                           // work-items
    uint32_t group_segment_bytes;                    // LDS, static + dynamic, as in the packet
    uint32_t private_segment_bytes;                  // scratch per work-item, as in the packet
    uint64_t dispatch_packet;                        // address of the AQL packet (user SGPR dispatch_ptr)
    uint64_t queue;                                  // address of amd_queue_t (user SGPR queue_ptr)
    uint64_t kernarg;                                // address (user SGPR kernarg_segment_ptr)
    uint64_t dispatch_id;                            // user SGPR dispatch_id
    uint32_t shared_aperture_hi;                     // upper 32 bits of the LDS aperture of FLAT addressing
    uint32_t private_aperture_hi;                    // upper 32 bits of the scratch aperture
    uint64_t (*clock)(void *ctx);                    // GPU clock ticks for s_memrealtime
    void (*interrupt)(void *ctx, uint32_t event_id); // s_sendmsg MSG_INTERRUPT with M0
    void *ctx;                                       // passed to the two calls above
    const volatile int *stop; // non-NULL: when it becomes non-zero the launch ends with SG_FAULT_STOPPED
    // Non-NULL: every access is checked. True when the program owns [address, address + bytes); *range becomes the
    // owned memory around it. Else `why` says in words what lies nearest.
    bool (*owned)(void *ctx, uint64_t address, uint64_t bytes, uint64_t range[2], char *why,
                  size_t why_bytes);
    bool exact_lds;         // LDS ends at group_segment_bytes, not where hardware's allocation would
    uint64_t timeout_ns;    // non-zero: a launch that runs longer ends with SG_FAULT_TIMEOUT
    struct sg_gws *gws;     // of the queue; NULL: ds_gws_* are illegal
    unsigned threads;       // at most so many run work-groups; 0: SOFTGPU_THREADS, or the processors
    struct sg_watch *watch; // NULL: nobody looks on, at no cost
};

// What one shader engine executed during a launch. Counts are wave instructions (one per issue, whatever
// EXEC). Meaning of each class: docs/counters.md; source of the split: SQ performance counters of the "AMD
// Instinct MI200" ISA and ROCm documentation (VMEM excludes FLAT with no LDS use only as documented there).
struct sg_counts {
    uint64_t waves;
    uint64_t workgroups;
    uint64_t valu;    // VOP*, incl. MFMA, AGPR moves, readlane
    uint64_t salu;    // SOP1, SOP2, SOPK, SOPC
    uint64_t smem;    // scalar memory
    uint64_t lds;     // DS instructions that touch LDS
    uint64_t gds;     // DS instructions with the gds bit, GWS
    uint64_t vmem_rd; // MUBUF/MTBUF/MIMG/GLOBAL/SCRATCH/FLAT loads (atomics with return are both classes'
                      // rule in counters.md)
    uint64_t vmem_wr; // the same, stores and atomics
    uint64_t flat;    // FLAT encodings (flat_*, global_*, scratch_*)
    uint64_t branch;  // s_branch, s_cbranch_*, s_setpc, s_swappc, s_call
    uint64_t sendmsg;
    uint64_t other_sopp; // waitcnt, nop, barrier, endpgm, ...
    uint64_t lanes_valu; // active lanes summed over VALU instructions
    uint64_t flat_lds;   // flat_* instructions all of whose active lanes are in LDS
};

enum sg_fault_kind {
    SG_FAULT_NONE = 0,
    SG_FAULT_ILLEGAL,   // unknown or unimplemented instruction
    SG_FAULT_MEMORY,    // access outside mapped memory
    SG_FAULT_LDS,       // LDS access out of the group's allocation with no defined result
    SG_FAULT_TRAP,      // s_trap (device assert, abort)
    SG_FAULT_RESOURCES, // a launch the device cannot hold (too many work-items, LDS, registers)
    SG_FAULT_STOPPED,   // asked to stop
    SG_FAULT_TIMEOUT,   // ran longer than allowed
};

struct sg_fault {
    enum sg_fault_kind kind;
    uint64_t pc;      // address of the instruction
    uint64_t address; // faulting address for SG_FAULT_MEMORY / SG_FAULT_LDS
    char text[256];   // whole message: words, mnemonic when known, kernel, address
};

// Runs every work-group of the launch to its end, on the calling thread and, unless the launch is short, on
// those of a pool; each group on one of them. Work-groups start in order. As long as each ends within a bounded
// number of instructions a thread runs them one after another; otherwise as many as an MI210 holds take turns,
// so that groups may wait for each other. `counts` is an array of SG_SHADER_ENGINES, added to, not cleared;
// they do not depend on the number of threads, unless the instructions of a group do on those of others.
// Returns 0, or -1 with *fault filled, of the first group in order when several had one; counts then hold what
// ran until the fault. The calls of the launch (clock, interrupt, owned) come from any of the threads.
int sg_isa_launch(const struct sg_launch *launch, struct sg_counts *counts, struct sg_fault *fault);

// Forget decoded code in [base, base + bytes): called when memory that may hold code is freed or overwritten
// by a copy. bytes == UINT64_MAX forgets everything. Thread-safe.
void sg_isa_invalidate(uint64_t base, uint64_t bytes);

#endif
