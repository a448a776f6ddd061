// SPDX-License-Identifier: MIT
// LDS: 32 banks of a dword, 128 bytes a cycle, so that 32 lanes with dwords, 16 with pairs and 8 with quads go together
// (AMD CDNA 2 white paper; "AMD Instinct MI200 Instruction Set Architecture", Data Share). Lanes that want the same dword
// share it; different dwords of one bank take a cycle each; atomics on one dword follow each other.
#include "softgpu/model/internal.h"

#define BANKS         32
#define BYTES_A_CYCLE 128

// Where an instruction's elements lie: vaddr + offset, twice for the forms with two addresses.
struct places {
    unsigned n;
    uint32_t offset[2];
    bool by_lane; // M0 + offset + 4 * lane
};

static struct places places_of(const struct sg_inst *inst, unsigned bytes)
{
    const uint32_t unit64 = bytes * 64;
    switch (inst->info->opcode) {
    case 14: // write2, read2, wrxchg2
    case 46:
    case 55:
    case 78:
    case 110:
    case 119:
        return (struct places){.n = 2, .offset = {inst->offset0 * bytes, inst->offset1 * bytes}};
    case 15: // the same, offsets in units of 64 elements
    case 47:
    case 56:
    case 79:
    case 111:
    case 120:
        return (struct places){.n = 2, .offset = {inst->offset0 * unit64, inst->offset1 * unit64}};
    case 29: // addtid
    case 182:
        return (struct places){.n = 1, .offset = {(uint32_t)inst->simm}, .by_lane = true};
    default:
        return (struct places){.n = 1, .offset = {(uint32_t)inst->simm}};
    }
}

// The dwords that go together, sorted into their banks.
struct pass {
    uint32_t dword[BANKS][BANKS];
    uint8_t n[BANKS], uses[BANKS]; // different dwords; accesses
    bool any;
};

static void add_dword(struct pass *pass, uint32_t dword)
{
    const unsigned bank = dword % BANKS;
    unsigned i = 0;
    pass->any = true;
    pass->uses[bank]++;
    while (i < pass->n[bank] && pass->dword[bank][i] != dword)
        i++;
    if (i < pass->n[bank])
        return;
    pass->dword[bank][i] = dword;
    pass->n[bank]++;
}

static void count_pass(struct sg_cu_detail *cu, const struct pass *pass, bool atomic)
{
    unsigned different = 1, uses = 1;
    if (!pass->any)
        return;
    for (unsigned bank = 0; bank < BANKS; bank++) {
        different = pass->n[bank] > different ? pass->n[bank] : different;
        uses = pass->uses[bank] > uses ? pass->uses[bank] : uses;
    }
    const unsigned cycles = atomic ? uses : different;
    cu->lds_cycles += cycles;
    cu->lds_bank_conflict += different - 1;
    cu->lds_addr_conflict += cycles - different;
}

static void count_place(struct sg_cu_detail *cu, const struct sg_wave *w, const uint32_t *address,
                        uint32_t offset, unsigned bytes, bool atomic)
{
    const uint64_t exec = sg_exec(w);
    const unsigned together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8, align = bytes >= 4 ? 4 : bytes;
    for (unsigned first = 0; first < SG_LANES; first += together) {
        struct pass pass;
        memset(pass.n, 0, sizeof pass.n);
        memset(pass.uses, 0, sizeof pass.uses);
        pass.any = false;
        bool unaligned = false;
        for (unsigned lane = first; lane < first + together; lane++) {
            if (!(exec >> lane & 1))
                continue;
            const uint32_t at = address[lane] + offset;
            if ((uint64_t)at + bytes > w->group->lds_bytes) {
                cu->lds_violations++;
                continue;
            }
            unaligned |= at % align != 0;
            for (unsigned d = 0; d < bytes; d += 4)
                add_dword(&pass, (at + d) / 4);
        }
        count_pass(cu, &pass, atomic);
        cu->lds_unaligned += unaligned;
        cu->lds_cycles += unaligned;
    }
}

unsigned sg_model_lds(struct sg_cu_detail *cu, const struct sg_wave *w, const struct sg_inst *inst,
                      const struct sg_kind *kind)
{
    const uint64_t before = cu->lds_cycles;
    if (!kind->bytes) { // lane exchange: through the crossbar, past the banks
        cu->lds_cycles += SG_LANES * 4 / BYTES_A_CYCLE;
        return SG_MODEL_LDS_LATENCY + SG_LANES * 4 / BYTES_A_CYCLE;
    }
    const struct places places = places_of(inst, kind->bytes);
    const bool atomic = kind->access == SG_ACCESS_ATOMIC || kind->access == SG_ACCESS_ATOMIC_RETURN;
    uint32_t own[SG_LANES];
    for (unsigned lane = 0; places.by_lane && lane < SG_LANES; lane++)
        own[lane] = (w->sgpr[SG_SGPR_M0] & 0xffff) + 4 * lane;
    for (unsigned i = 0; i < places.n; i++)
        count_place(cu, w, places.by_lane ? own : w->vgpr[inst->vaddr], places.offset[i], kind->bytes,
                    atomic);
    if (kind->access == SG_ACCESS_ATOMIC_RETURN)
        cu->lds_atomic_return += SG_LANES * kind->bytes / BYTES_A_CYCLE;
    return SG_MODEL_LDS_LATENCY + (unsigned)(cu->lds_cycles - before);
}
