// SPDX-License-Identifier: MIT
// The parts of the model and what they share.
#ifndef SG_MODEL_INTERNAL_H
#define SG_MODEL_INTERNAL_H

#include "softgpu/isa/machine.h"
#include "softgpu/isa/memory.h"
#include "softgpu/model/model.h"

// Clock cycles. Round figures whose order is that of the hardware, not measured: see docs/counters.md.
enum {
    SG_MODEL_ISSUE = 4,   // of any instruction
    SG_MODEL_BRANCH = 16, // of a branch, taken or not
    SG_MODEL_TRANSCENDENTAL = 16,
    SG_MODEL_WAVE = 64,          // launch and end of a wave
    SG_MODEL_ENGINE_START = 100, // of an engine that gets at least one wave
    SG_MODEL_DISPATCH = 1000,    // of a dispatch, before its first and after its last wave
    SG_MODEL_GROUP_LAUNCH = 16,  // of the command processor, for each work-group
    SG_MODEL_LDS_LATENCY = 64,
    SG_MODEL_SCALAR_LATENCY = 50,
    SG_MODEL_FETCH_LATENCY = 16,
    SG_MODEL_L1_LATENCY = 120,
    SG_MODEL_L2_LATENCY = 200,     // more than that, for what the L1 has not
    SG_MODEL_MEMORY_LATENCY = 400, // more than that, for what the L2 has not
    SG_MODEL_CHANNEL_CYCLES = 1,   // of an L2 channel, for a request
    SG_MODEL_EA_CYCLES = 2,        // of a channel's way to memory, for a request
};

// ---- frames.c: pages numbered in the order in which they are first touched

struct sg_frames {
    struct sg_frame {
        uint64_t page;
        uint32_t epoch, frame;
    } * slots;
    uint32_t capacity, used, epoch;
    uint64_t last_page, last_base;
    bool failed;
};
bool sg_frames_init(struct sg_frames *frames);
void sg_frames_reset(struct sg_frames *frames);
// The model's own address of a host address.
uint64_t sg_frames_address(struct sg_frames *frames, uint64_t address);

// ---- cache.c: tags with the least recently used one replaced; and the L2

struct sg_tags {
    uint64_t *tag; // ways of a set side by side, the most recent first; 0 = empty, else line + 1
    uint32_t sets, ways;
};
bool sg_tags_init(struct sg_tags *tags, uint32_t sets, uint32_t ways);
void sg_tags_reset(struct sg_tags *tags);
// Looks a line up and makes it the most recent one. True when it was there; it is now, if `allocate`.
bool sg_tags_touch(struct sg_tags *tags, uint64_t line, bool allocate);

#define SG_L2_SETS 128
#define SG_L2_WAYS 16
struct sg_l2 {
    struct sg_l2_line {
        uint64_t tag;         // 0 = empty, else line in the channel + 1
        uint8_t valid, dirty; // bits of 64-byte halves; of 32-byte quarters
    } * lines;                // [channel][set][way]
    bool used;
};
bool sg_l2_init(struct sg_l2 *l2);
void sg_l2_reset(struct sg_l2 *l2);
// A request for the 64 bytes at `address`, or for those of its two 32-byte quarters in `quarters`. Returns its latency.
unsigned sg_l2_access(struct sg_model *model, uint64_t address, enum sg_access access, unsigned quarters,
                      bool streaming);
void sg_l2_write_back(struct sg_model *model);

// ---- kinds.c: what an instruction is

struct sg_kind {
    uint8_t valu;   // enum sg_valu_kind
    uint8_t port;   // enum sg_port
    uint8_t access; // of vector memory, and of scalar memory: enum sg_access; SG_ACCESSES: none
    uint8_t bytes;  // of one lane's element, in memory or LDS; 0: touches none
    uint8_t cycles; // issue
    uint32_t ops;   // of a matrix instruction
};
const struct sg_kind *sg_kind_of(const struct sg_inst *inst);

// ---- Waves

#define SG_MODEL_IN_FLIGHT 64
struct sg_in_flight {
    uint64_t done[SG_MODEL_IN_FLIGHT]; // when; a ring
    unsigned first, n;
};

struct sg_wave_time {
    uint64_t now, waited;
    struct sg_in_flight vector, other; // as VM_CNT and LGKM_CNT count them
    uint64_t fetched;                  // the 32 bytes of code that came last, + 1
    unsigned simd;
    bool at_barrier, ended;
};

struct sg_watched_group {
    struct sg_watched_group *next, *previous;
    struct sg_cu_detail *cu;
    unsigned engine, n_waves;
    struct sg_wave_time wave[SG_MAX_WAVES];
};

struct sg_model {
    struct sg_watch watch; // first
    const struct sg_launch *launch;
    struct sg_detail detail;
    struct sg_frames frames;
    struct sg_tags l1[SG_SHADER_ENGINES], scalar[SG_SHADER_ENGINES], code[SG_SHADER_ENGINES];
    struct sg_l2 l2;
    struct sg_watched_group live; // a ring of those that have begun
    unsigned group_waves;
    uint32_t lds_bytes;
    bool failed;
};

// Each takes one instruction of `time`'s wave, adds to its CU's record and returns the latency of the result.
unsigned sg_model_vector(struct sg_model *model, struct sg_watched_group *group, struct sg_wave *w,
                         const struct sg_inst *inst, const struct sg_kind *kind);
unsigned sg_model_scalar(struct sg_model *model, struct sg_watched_group *group, const struct sg_wave *w,
                         const struct sg_inst *inst, const struct sg_kind *kind);
unsigned sg_model_lds(struct sg_cu_detail *cu, const struct sg_wave *w, const struct sg_inst *inst,
                      const struct sg_kind *kind);
// Cycles that the wave has to wait for its code.
unsigned sg_model_fetch(struct sg_model *model, struct sg_watched_group *group, struct sg_wave_time *time,
                        uint64_t pc, unsigned bytes);

// The CUs' and the GPU's time, from what waves took and units had to do.
void sg_model_time(struct sg_model *model);

#endif
