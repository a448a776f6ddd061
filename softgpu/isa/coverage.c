// SPDX-License-Identifier: MIT
// The counts behind coverage.h, one for each row of the opcode tables and modifier, and their file.
#include "softgpu/isa/coverage.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_ROWS  512 // of one table
#define MODIFIERS 3

static const char *const encoding_names[SG_ENC_COUNT] = {
    [SG_ENC_SOP1] = "sop1",       [SG_ENC_SOP2] = "sop2",   [SG_ENC_SOPK] = "sopk",
    [SG_ENC_SOPC] = "sopc",       [SG_ENC_SOPP] = "sopp",   [SG_ENC_SMEM] = "smem",
    [SG_ENC_VOP1] = "vop1",       [SG_ENC_VOP2] = "vop2",   [SG_ENC_VOPC] = "vopc",
    [SG_ENC_VOP3] = "vop3",       [SG_ENC_VOP3P] = "vop3p", [SG_ENC_VINTRP] = "vintrp",
    [SG_ENC_DS] = "ds",           [SG_ENC_FLAT] = "flat",   [SG_ENC_GLOBAL] = "global",
    [SG_ENC_SCRATCH] = "scratch", [SG_ENC_MUBUF] = "mubuf", [SG_ENC_MTBUF] = "mtbuf",
    [SG_ENC_MIMG] = "mimg",       [SG_ENC_EXP] = "exp",
};
static const char *const modifier_names[MODIFIERS] = {
    [SG_MOD_NONE] = "plain", [SG_MOD_SDWA] = "sdwa", [SG_MOD_DPP] = "dpp"};

static const char *file; // NULL: nobody asked
static uint32_t places[SG_ENC_COUNT][MAX_ROWS][MODIFIERS];

static void read_environment(void)
{
    file = getenv("SOFTGPU_COVERAGE");
}

void sg_coverage_note(const struct sg_inst *inst)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    if (!file)
        return;
    // VOP3 forms of VOP1, VOP2 and VOPC share the row of the short form.
    const unsigned encoding = inst->info->encoding;
    const size_t row = (size_t)(inst->info - sg_optables[encoding]->rows);
    if (row < MAX_ROWS && inst->mod < MODIFIERS)
        __atomic_fetch_add(&places[encoding][row][inst->mod], 1, __ATOMIC_RELAXED);
}

// A line in one write, so that lines of processes that end together do not mix.
static void write_row(int fd, unsigned encoding, size_t row)
{
    for (unsigned mod = 0; mod < MODIFIERS; mod++) {
        const uint32_t n = __atomic_load_n(&places[encoding][row][mod], __ATOMIC_RELAXED);
        if (n)
            dprintf(fd, "%s %s %s %u\n", encoding_names[encoding], sg_optables[encoding]->rows[row].mnemonic,
                    modifier_names[mod], n);
    }
}

// A file that cannot be written is missed by the test that reads it.
__attribute__((destructor)) static void write_file(void)
{
    const int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    for (unsigned encoding = 0; encoding < SG_ENC_COUNT; encoding++)
        for (size_t row = 0; sg_optables[encoding] && row < sg_optables[encoding]->count; row++)
            write_row(fd, encoding, row);
    close(fd);
}
