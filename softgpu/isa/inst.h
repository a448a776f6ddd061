// SPDX-License-Identifier: MIT
// The operation record: what the decoder yields and the semantics take. One record per instruction, position
// independent, so that decoded code can be cached. Encodings and field names follow the public
// "AMD Instinct MI200 Instruction Set Architecture" reference guide, chapter "Microcode Formats".
#ifndef SG_INST_H
#define SG_INST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_encoding {
    SG_ENC_SOP1,
    SG_ENC_SOP2,
    SG_ENC_SOPK,
    SG_ENC_SOPC,
    SG_ENC_SOPP,
    SG_ENC_SMEM,
    SG_ENC_VOP1,
    SG_ENC_VOP2,
    SG_ENC_VOPC,
    SG_ENC_VOP3,
    SG_ENC_VOP3P,
    SG_ENC_VINTRP,
    SG_ENC_DS,
    SG_ENC_FLAT,
    SG_ENC_GLOBAL,
    SG_ENC_SCRATCH,
    SG_ENC_MUBUF,
    SG_ENC_MTBUF,
    SG_ENC_MIMG,
    SG_ENC_EXP,
    SG_ENC_COUNT
};

// Class for counting; see struct sg_counts.
enum sg_class {
    SG_CLASS_VALU,
    SG_CLASS_SALU,
    SG_CLASS_SMEM,
    SG_CLASS_LDS,
    SG_CLASS_GDS,
    SG_CLASS_VMEM_RD,
    SG_CLASS_VMEM_WR,
    SG_CLASS_FLAT_RD,
    SG_CLASS_FLAT_WR, // flat, global, scratch: count as vmem_rd/wr and as flat
    SG_CLASS_BRANCH,
    SG_CLASS_SENDMSG,
    SG_CLASS_OTHER
};

struct sg_wave;
struct sg_inst;

// Executes one instruction for one wave. PC already points behind the instruction. Returns 0 to go on or an
// sg_step value; on SG_STEP_FAULT wave->fault is filled (use sg_wave_fault()).
enum sg_step {
    SG_STEP_OK = 0,
    SG_STEP_END,
    SG_STEP_BARRIER,
    SG_STEP_YIELD, // asks to be continued later: sleeps
    SG_STEP_POLL,  // has looked often at memory that others change: others first
    SG_STEP_WAIT,  // waits at a global wave sync resource
    SG_STEP_FAULT
};
typedef enum sg_step (*sg_exec_fn)(struct sg_wave *wave, const struct sg_inst *inst);

// One row of an opcode table: tables are const arrays per encoding, indexed or searched by opcode.
struct sg_opinfo {
    uint16_t opcode;      // as encoded in the field OP of its encoding
    uint8_t encoding;     // enum sg_encoding
    uint8_t klass;        // enum sg_class
    const char *mnemonic; // LLVM's spelling, without _e32/_e64 suffix
    sg_exec_fn exec;      // NULL: known by name, not implemented: executing it is SG_FAULT_ILLEGAL
    // Operand widths in dwords; 0 = operand absent. The decoder needs them only for checks; semantics read by
    // them.
    uint8_t dst_dwords, src_dwords[3];
    uint8_t arg;   // free parameter for a shared exec function (element size, comparison code, ...)
    uint8_t flags; // SG_OP_* below
};
#define SG_OP_SDST  0x01 // VOP3 with a scalar destination (v_cmp_* e64: vdst is an SGPR)
#define SG_OP_VOP3B 0x02 // VOP3b form: sdst field instead of abs/op_sel
#define SG_OP_FLOAT                                                                                          \
    0x04 // sources are floats: neg/abs/omod apply, 64-bit literals/inline constants are doubles
#define SG_OP_HALF   0x08 // 16-bit sources: inline float constants are f16
#define SG_OP_DOUBLE 0x10 // 64-bit float sources
#define SG_OP_RETURN 0x20 // memory atomics: this form returns the old value (also decided by glc)

// SDWA selects and DPP fields are kept raw.
#define SG_MOD_NONE 0
#define SG_MOD_SDWA 1
#define SG_MOD_DPP  2

// Scalar/vector sources use the 9-bit SRC numbering of the ISA: 0..127 scalar registers and specials,
// 128..208 integers, 235..239 apertures etc., 240..248 floats, 249 SDWA, 250 DPP, 251 VCCZ, 252 EXECZ, 253
// SCC, 255 literal, 256..511 VGPR. AGPRs are SG_SRC_AGPR0 + n.
#define SG_SRC_VGPR0   256
#define SG_SRC_AGPR0   512
#define SG_SRC_LITERAL 255

struct sg_inst {
    const struct sg_opinfo *info;
    sg_exec_fn exec; // what runs it: info->exec, or the same made for this host. NULL until sg_fast_choose()
    bool direct;     // semantics may work in the registers; see sg_direct()
    uint32_t words[4]; // raw dwords, for messages and for exec functions with rare fields
    uint8_t n_words;   // 1..4
    uint8_t mod;       // SG_MOD_*
    uint16_t src[3];   // SRC numbering above. SMEM: src[0] = SBASE SGPR. Memory: see below
    uint16_t vdst;     // VGPR number, 256 + n = AGPR n; SGPR number if SG_OP_SDST
    uint16_t sdst;     // SGPR number (SOP*, SMEM SDATA, VOP3b SDST, VOPC implicit = 106)
    uint32_t literal;  // 32-bit literal constant
    int32_t simm; // SOPP/SOPK simm16 (sign-extended); memory: instruction offset, sign-extended where signed
    uint8_t abs, neg;  // bit i: source i. VOP3P: neg = neg_lo
    uint8_t neg_hi;    // VOP3P
    uint8_t op_sel;    // VOP3 (4 bits, bit 3 = destination) and VOP3P
    uint8_t op_sel_hi; // VOP3P
    uint8_t omod;      // 0..3
    uint8_t clamp;
    // SDWA
    uint8_t sdwa_dst_sel, sdwa_dst_unused, sdwa_sel[2], sdwa_sext; // sdwa_sext: bit i = source i
    bool sdwa_scalar_dst; // VOPC SDWA with explicit SGPR destination in sdst
    // DPP
    uint16_t dpp_ctrl;
    uint8_t dpp_row_mask, dpp_bank_mask;
    bool dpp_bound_ctrl;
    // Memory: address and data registers
    uint16_t vaddr; // VGPR number of the address
    // VGPR number (256 + n = AGPR n) of store data / load destination; DS: data0, load destination in vdst
    uint16_t vdata;
    uint16_t vdata2;  // DS: data1
    uint16_t saddr;   // GLOBAL/SCRATCH: SGPR or 0x7f = off. MUBUF: SRSRC SGPR (multiple of 4). MIMG: SRSRC
    uint16_t soffset; // MUBUF/MTBUF/SMEM soffset, SRC numbering
    uint8_t glc, slc, scc, lds, nv, offen, idxen, gds;
    uint8_t offset0, offset1; // DS
};

// Decodes the instruction at `code` (at most `avail_dwords` readable). Returns the number of dwords (1..4)
// with inst->info set, or 0 with inst->info NULL and inst->words/n_words filled when the words are no
// instruction of gfx90a that the tables name.
int sg_decode(const uint32_t *code, size_t avail_dwords, struct sg_inst *inst);

// Opcode tables, one per encoding, each in its own file. `count` rows sorted by opcode.
struct sg_optable {
    const struct sg_opinfo *rows;
    size_t count;
};
extern const struct sg_optable *const sg_optables[SG_ENC_COUNT]; // NULL: no such encoding on gfx90a

// Table rows by room: scalar.c, vector ALU files, memory files define these and optables.c collects them.
extern const struct sg_optable sg_table_sop1, sg_table_sop2, sg_table_sopk, sg_table_sopc, sg_table_sopp;
extern const struct sg_optable sg_table_vop1, sg_table_vop2, sg_table_vopc, sg_table_vop3, sg_table_vop3p;
extern const struct sg_optable sg_table_smem, sg_table_ds, sg_table_flat, sg_table_global, sg_table_scratch;
extern const struct sg_optable sg_table_mubuf, sg_table_mtbuf, sg_table_mimg;

#endif
