// SPDX-License-Identifier: MIT
// The PM4 packets that the command processor runs and the counter library writes: header layout, opcodes,
// fields. Sources: Linux drivers/gpu/drm/amd/amdgpu/soc15d.h (headers, opcodes, WAIT_REG_MEM, WRITE_DATA,
// RELEASE_MEM, INDIRECT_BUFFER) and Mesa src/amd/common/sid.h (COPY_DATA selectors). Dword n below counts
// from the header, 0.
#ifndef SG_PERF_PACKETS_H
#define SG_PERF_PACKETS_H

#include <stdint.h>

// Header: type 31:30, count 29:16 (body dwords - 1), opcode 15:8. A type-2 packet is one dword of filler.
#define SG_PM4_TYPE(header)   ((header) >> 30)
#define SG_PM4_COUNT(header)  (((header) >> 16) & 0x3fffu)
#define SG_PM4_OPCODE(header) (((header) >> 8) & 0xffu)
#define SG_PM4_HEADER3(opcode, body_dwords)                                                                  \
    (0xc0000000u | (((uint32_t)(body_dwords)-1) << 16) | ((uint32_t)(opcode) << 8))
#define SG_PM4_TYPE2 0x80000000u

// A NOP with this count is a lone header.
#define SG_PM4_NOP_COUNT_ALONE 0x3fffu

enum {
    SG_PM4_NOP = 0x10,
    SG_PM4_WRITE_DATA = 0x37,
    SG_PM4_WAIT_REG_MEM = 0x3c,
    SG_PM4_INDIRECT_BUFFER = 0x3f,
    SG_PM4_COPY_DATA = 0x40,
    SG_PM4_EVENT_WRITE = 0x46,
    SG_PM4_RELEASE_MEM = 0x49,
    SG_PM4_ACQUIRE_MEM = 0x58,
    SG_PM4_SET_SH_REG = 0x76,
    SG_PM4_SET_UCONFIG_REG = 0x79,
};

// EVENT_WRITE dword 1: CS_PARTIAL_FLUSH (7) with event index 4, which waits until compute is idle.
#define SG_PM4_EVENT_WAIT_IDLE 0x407u

// COPY_DATA dword 1: source 3:0, destination 11:8, 64 bits wide if bit 16; dwords 2-3 source, 4-5
// destination.
#define SG_PM4_COPY_SRC(control) ((control)&0xfu)
#define SG_PM4_COPY_DST(control) (((control) >> 8) & 0xfu)
#define SG_PM4_COPY_64           0x10000u
// Register to memory, 32 bits, both sides streaming in the cache: what AMD's counter library writes for
// gfx90a.
#define SG_PM4_COPY_REG_TO_MEM 0x02002500u

// Selectors of COPY_DATA and of WRITE_DATA's destination.
enum {
    SG_PM4_SEL_REG = 0,
    SG_PM4_SEL_MEM_SYNC = 1,   // as a source: memory
    SG_PM4_SEL_L2 = 2,         // memory through the L2 cache
    SG_PM4_SEL_PERF = 4,       // a counter register
    SG_PM4_SEL_MEM_OR_IMM = 5, // destination: memory; source: the immediate in dwords 2-3
};

// WRITE_DATA dword 1: destination 11:8, all data to one address if bit 16; dwords 2-3 address, then data.
#define SG_PM4_WRITE_DST(control) (((control) >> 8) & 0xfu)
#define SG_PM4_WRITE_ONE_ADDRESS  0x10000u

// WAIT_REG_MEM dword 1: function 2:0, memory if bit 4, operation 7:6 (0 = wait); 2-3 address, 4 reference, 5
// mask.
#define SG_PM4_WAIT_FUNCTION(control)  ((control)&0x7u)
#define SG_PM4_WAIT_SPACE(control)     (((control) >> 4) & 0x3u)
#define SG_PM4_WAIT_OPERATION(control) (((control) >> 6) & 0x3u)

// RELEASE_MEM dword 2: data selector 31:29 (0 none, 1 low 32 bits, 2 64 bits); 3-4 address, 5-6 data.
#define SG_PM4_RELEASE_DATA_SEL(control) ((control) >> 29)

// INDIRECT_BUFFER dwords 1-2 address, 3 size 19:0 and flags (valid, streaming cache policy).
#define SG_PM4_IB_DWORDS(control) ((control)&0xfffffu)
#define SG_PM4_IB_MAX_DWORDS      0xfffffu
#define SG_PM4_IB_FLAGS           0x10800000u

// AMD's vendor-specific AQL packet that carries an INDIRECT_BUFFER: its second half-word, and the dword
// behind the PM4 (dwords left in the AQL slot).
#define SG_AQL_PM4_IB_FORMAT      1u
#define SG_AQL_PM4_IB_DWORDS_LEFT 0xau

#endif
