// SPDX-License-Identifier: MIT
// SOPP: program flow, waits and messages. Memory is sequential inside a wave here, so waits and cache
// operations have nothing to do. Opcodes and semantics: "AMD Instinct MI200 Instruction Set Architecture"
// reference guide, SOPP Instructions.
#include "softgpu/isa/salu.h"

enum { MSG_INTERRUPT = 1, MESSAGES = 16 };
enum { TRAP_DEBUG = 3 };

// All but the interrupt are for graphics and for trap handlers.
static const char *const message_names[MESSAGES] = {
    [MSG_INTERRUPT] = "MSG_INTERRUPT",
    [2] = "MSG_GS",
    [3] = "MSG_GS_DONE",
    [4] = "MSG_SAVEWAVE",
    [5] = "MSG_STALL_WAVE_GEN",
    [6] = "MSG_HALT_WAVES",
    [7] = "MSG_ORDERED_PS_DONE",
    [8] = "MSG_EARLY_PRIM_DEALLOC",
    [9] = "MSG_GS_ALLOC_REQ",
    [10] = "MSG_GET_DOORBELL",
    [11] = "MSG_GET_DDID",
    [15] = "MSG_SYSMSG",
};

static enum sg_step op_nothing(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)w;
    (void)inst;
    return SG_STEP_OK;
}

static enum sg_step op_s_endpgm(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)inst;
    w->ended = true;
    return SG_STEP_END;
}

static enum sg_step op_s_barrier(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)w;
    (void)inst;
    return SG_STEP_BARRIER;
}

static enum sg_step op_yield(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)w;
    (void)inst;
    return SG_STEP_YIELD;
}

static enum sg_step branch_if(struct sg_wave *w, const struct sg_inst *inst, bool taken)
{
    if (taken)
        w->pc += (uint64_t)((int64_t)inst->simm * 4);
    return SG_STEP_OK;
}

static enum sg_step op_s_branch(struct sg_wave *w, const struct sg_inst *inst)
{
    return branch_if(w, inst, true);
}

// arg: the value of SCC, or the zeroness of VCC or EXEC, that takes the branch.
static enum sg_step op_s_cbranch_scc(struct sg_wave *w, const struct sg_inst *inst)
{
    return branch_if(w, inst, w->scc == inst->info->arg);
}

static enum sg_step op_s_cbranch_vcc(struct sg_wave *w, const struct sg_inst *inst)
{
    return branch_if(w, inst, (sg_sgpr64(w, SG_SGPR_VCC) == 0) == inst->info->arg);
}

static enum sg_step op_s_cbranch_exec(struct sg_wave *w, const struct sg_inst *inst)
{
    return branch_if(w, inst, (sg_exec(w) == 0) == inst->info->arg);
}

static enum sg_step op_s_sendmsg(struct sg_wave *w, const struct sg_inst *inst)
{
    const struct sg_launch *launch = w->group ? w->group->launch : NULL;
    const unsigned message = inst->simm & (MESSAGES - 1);
    const char *name = message_names[message] ? message_names[message] : "unknown";
    if (message != MSG_INTERRUPT)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "message %u (%s) is not implemented", message,
                             name);
    if (launch && launch->interrupt)
        launch->interrupt(launch->ctx, w->sgpr[SG_SGPR_M0]);
    return SG_STEP_OK;
}

// The runtime's trap handler goes on after a debug trap when no debugger is attached, which is never here.
static enum sg_step op_s_trap(struct sg_wave *w, const struct sg_inst *inst)
{
    if ((inst->simm & 0xff) == TRAP_DEBUG)
        return SG_STEP_OK;
    return sg_wave_fault(w, inst, SG_FAULT_TRAP, 0, "trap %u", (unsigned)(inst->simm & 0xff));
}

static enum sg_step op_s_sethalt(struct sg_wave *w, const struct sg_inst *inst)
{
    if (!(inst->simm & 1))
        return SG_STEP_OK;
    return sg_wave_fault(w, inst, SG_FAULT_TRAP, 0, "wave halted itself");
}

static enum sg_step op_s_sendmsghalt(struct sg_wave *w, const struct sg_inst *inst)
{
    const enum sg_step step = op_s_sendmsg(w, inst);
    return step ? step : sg_wave_fault(w, inst, SG_FAULT_TRAP, 0, "wave halted itself");
}

static enum sg_step op_s_set_gpr_idx_off(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)inst;
    w->mode &= ~SG_MODE_GPR_IDX_EN;
    return SG_STEP_OK;
}

static enum sg_step op_s_set_gpr_idx_mode(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint32_t modes = (uint32_t)inst->simm & 15;
    w->sgpr[SG_SGPR_M0] = (w->sgpr[SG_SGPR_M0] & ~0xf000u) | modes << 12;
    return SG_STEP_OK;
}

#define ROW(op, name)           SG_SROW(SG_ENC_SOPP, op, SG_CLASS_OTHER, name, 0, 0, 0, 0)
#define AS(op, name, fn)        SG_SROW_AS(SG_ENC_SOPP, op, SG_CLASS_OTHER, name, fn, 0, 0, 0, 0)
#define JUMP(op, name, fn, arg) SG_SROW_AS(SG_ENC_SOPP, op, SG_CLASS_BRANCH, name, fn, 0, 0, 0, arg)
#define NAMED(op, klass, name)  SG_SROW_NAMED(SG_ENC_SOPP, op, klass, name, 0, 0, 0)

static const struct sg_opinfo rows[] = {
    AS(0x00, s_nop, nothing),
    ROW(0x01, s_endpgm),
    JUMP(0x02, s_branch, s_branch, 0),
    AS(0x03, s_wakeup, nothing),
    JUMP(0x04, s_cbranch_scc0, s_cbranch_scc, 0),
    JUMP(0x05, s_cbranch_scc1, s_cbranch_scc, 1),
    JUMP(0x06, s_cbranch_vccz, s_cbranch_vcc, 1),
    JUMP(0x07, s_cbranch_vccnz, s_cbranch_vcc, 0),
    JUMP(0x08, s_cbranch_execz, s_cbranch_exec, 1),
    JUMP(0x09, s_cbranch_execnz, s_cbranch_exec, 0),
    ROW(0x0a, s_barrier),
    NAMED(0x0b, SG_CLASS_OTHER, s_setkill),
    AS(0x0c, s_waitcnt, nothing),
    ROW(0x0d, s_sethalt),
    AS(0x0e, s_sleep, yield),
    AS(0x0f, s_setprio, nothing),
    SG_SROW(SG_ENC_SOPP, 0x10, SG_CLASS_SENDMSG, s_sendmsg, 0, 0, 0, 0),
    SG_SROW(SG_ENC_SOPP, 0x11, SG_CLASS_SENDMSG, s_sendmsghalt, 0, 0, 0, 0),
    ROW(0x12, s_trap),
    AS(0x13, s_icache_inv, nothing),
    AS(0x14, s_incperflevel, nothing),
    AS(0x15, s_decperflevel, nothing),
    AS(0x16, s_ttracedata, nothing),
    // No debugger is ever attached: these branches are never taken.
    JUMP(0x17, s_cbranch_cdbgsys, nothing, 0),
    JUMP(0x18, s_cbranch_cdbguser, nothing, 0),
    JUMP(0x19, s_cbranch_cdbgsys_or_user, nothing, 0),
    JUMP(0x1a, s_cbranch_cdbgsys_and_user, nothing, 0),
    AS(0x1b, s_endpgm_saved, s_endpgm),
    ROW(0x1c, s_set_gpr_idx_off),
    ROW(0x1d, s_set_gpr_idx_mode),
    NAMED(0x1e, SG_CLASS_OTHER, s_endpgm_ordered_ps_done),
};

const struct sg_optable sg_table_sopp = {rows, sizeof(rows) / sizeof(*rows)};
