// SPDX-License-Identifier: MIT
// State of one wave and of its work-group, and the register access that all semantics share.
#ifndef SG_WAVE_H
#define SG_WAVE_H

#include "softgpu/isa/inst.h"
#include "softgpu/isa/isa.h"

#include <string.h>

#define SG_LANES 64

// Scalar register file by SRC number 0..127: s0..s101, 102/103 FLAT_SCRATCH, 104/105 XNACK_MASK, 106/107 VCC,
// 108..123 TTMP, 124 M0, 126/127 EXEC.
#define SG_SGPR_FLAT_SCRATCH 102
#define SG_SGPR_XNACK_MASK   104
#define SG_SGPR_VCC          106
#define SG_SGPR_M0           124
#define SG_SGPR_EXEC         126

struct sg_group {
    const struct sg_launch *launch;
    uint8_t *lds; // group_segment_bytes, rounded up, zeroed at group start
    uint32_t lds_bytes;
    uint8_t *scratch;            // private memory of the whole group; wave w's part at scratch_wave_bytes * w
    uint64_t scratch_wave_bytes; // 64 * private bytes per work-item, rounded as the hardware swizzles
    uint32_t id[3];              // work-group id
    uint32_t n_waves;
    struct sg_counts *counts; // of the shader engine this group runs on
    void *watched;            // the watcher's, see sg_watch
};

enum sg_gws_wait { SG_GWS_NONE, SG_GWS_BARRIER, SG_GWS_SEMAPHORE };

struct sg_wave {
    uint32_t sgpr[128];
    uint32_t (*vgpr)[SG_LANES]; // [512]: 0..255 VGPRs, 256..511 AGPRs. Index = inst->vdst, or src - 256
    uint64_t pc;                // address of the next instruction
    uint8_t scc;
    uint32_t mode; // MODE register
    uint32_t wave_in_group;
    uint32_t status;
    bool at_barrier, ended;
    // Waiting at a global wave sync resource: which, and its phase when the wait began.
    uint8_t gws_wait; // enum sg_gws_wait
    uint8_t gws_resource;
    uint32_t gws_phase;
    uint32_t polls; // instructions that may be part of a spin loop; see sg_polled()
    struct sg_group *group;
    struct sg_fault *fault;
};

static inline uint64_t sg_sgpr64(const struct sg_wave *w, unsigned n)
{
    uint64_t v;
    memcpy(&v, &w->sgpr[n], 8);
    return v;
}

static inline void sg_set_sgpr64(struct sg_wave *w, unsigned n, uint64_t v)
{
    memcpy(&w->sgpr[n], &v, 8);
}

static inline uint64_t sg_exec(const struct sg_wave *w)
{
    return sg_sgpr64(w, SG_SGPR_EXEC);
}

// Notes an instruction that waves spin on (an atomic that returns, a load past the caches). A wave that has
// many of them gives way: whoever it waits for should not have to wait for the end of its slice.
#define SG_POLLS 32
static inline enum sg_step sg_polled(struct sg_wave *w)
{
    return ++w->polls % SG_POLLS ? SG_STEP_OK : SG_STEP_POLL;
}

// Scalar value of a SRC number that is not a VGPR: register, inline constant, special, literal. Sign
// extension and float width of inline constants follow `info->flags` for the 64-bit form. Defined in
// operand.c.
uint32_t sg_scalar32(const struct sg_wave *w, const struct sg_inst *inst, unsigned src);
uint64_t sg_scalar64(const struct sg_wave *w, const struct sg_inst *inst, unsigned src);

// Fills wave->fault with kind, pc of this instruction, words, mnemonic, kernel and the formatted cause;
// returns SG_STEP_FAULT so that semantics can `return sg_wave_fault(...)`. Defined in operand.c.
enum sg_step sg_wave_fault(struct sg_wave *w, const struct sg_inst *inst, enum sg_fault_kind kind,
                           uint64_t address, const char *cause, ...) __attribute__((format(printf, 5, 6)));

#endif
