// SPDX-License-Identifier: MIT
// Walks the opcode field of every encoding with several operand patterns and compares our decoder with LLVM's
// disassembler: whatever LLVM knows, we must know under the same mnemonic, and each row of our tables must be
// an instruction for LLVM. Exit status 77 (skipped) where llvm-mc-15 is missing.
#include "softgpu/isa/inst.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIPPED        77
#define MAX_CANDIDATES 40000

// One encoding: base word, where the opcode sits, and the operand bits to try, most useful first.
struct walk {
    const char *name;
    uint32_t base;
    unsigned shift, opcodes, words;
    uint32_t first[4];  // ORed into the first word
    uint32_t second[8]; // second word; the list ends at the first repeated zero
    unsigned n_first, n_second;
};

static const struct walk walks[] = {
    {"SOP1", 0xbe800000, 8, 256, 1, {4 << 16 | 8}, {0}, 1, 1},
    {"SOP2", 0x80000000, 23, 96, 1, {4 << 16 | 10 << 8 | 8}, {0}, 1, 1},
    {"SOPC", 0xbf000000, 16, 128, 1, {10 << 8 | 8}, {0}, 1, 1},
    {"SOPK", 0xb0000000, 23, 29, 1, {4 << 16 | 0x11}, {0}, 1, 1},
    {"SOPK literal", 0xb0000000, 23, 29, 2, {0x11}, {0x12345678}, 1, 1},
    {"SOPP", 0xbf800000, 16, 128, 1, {0}, {0}, 1, 1},
    {"VOP1", 0x7e000000, 9, 256, 1, {4 << 17 | 264, 0}, {0}, 2, 1},
    {"VOP1 SDWA", 0x7e000000, 9, 256, 2, {4 << 17 | 249}, {0x00060608}, 1, 1},
    {"VOP1 DPP", 0x7e000000, 9, 256, 2, {4 << 17 | 250}, {0xff000108}, 1, 1},
    {"VOP2", 0, 25, 62, 1, {4 << 17 | 10 << 9 | 264}, {0}, 1, 1},
    {"VOP2 literal", 0, 25, 62, 2, {4 << 17 | 10 << 9 | 264, 4 << 17 | 10 << 9 | 255}, {0x12345}, 2, 1},
    {"VOP2 SDWA", 0, 25, 62, 2, {4 << 17 | 10 << 9 | 249}, {0x06060608}, 1, 1},
    {"VOPC", 0x7c000000, 17, 256, 1, {10 << 9 | 264}, {0}, 1, 1},
    {"VOPC SDWA", 0x7c000000, 17, 256, 2, {10 << 9 | 249}, {0x06060008}, 1, 1},
    {"VOP3",
     0xd0000000,
     16,
     896,
     2,
     {4, 0, 4 | 6 << 8},
     {264 | 266 << 9 | 268u << 18, 264 | 266 << 9, 264, 0},
     3,
     4},
    {"VOP3P",
     0xd3800000,
     16,
     128,
     2,
     {4 | 0x4000, 4},
     {264 | 266 << 9 | 268u << 18 | 3u << 27, 264 | 266 << 9 | 3u << 27, 264 | 1 << 27, 264 | 3u << 27, 264},
     2,
     5},
    {"SMEM", 0xc0000000, 18, 256, 2, {1 << 17 | 8 << 6 | 4, 8 << 6, 0}, {0x10, 0}, 3, 2},
    {"DS",
     0xd8000000,
     17,
     256,
     2,
     {0, 1 << 16},
     {0x04060408, 0x00060408, 0x04000408, 0x04000008, 0x00000408, 0x04000000, 0x00000400, 8},
     2,
     8},
    {"DS without operands", 0xd8000000, 17, 256, 2, {0, 1 << 16}, {0}, 2, 1},
    {"FLAT", 0xdc000000, 18, 128, 2, {0, 1 << 16}, {0x04000408, 0x00000408, 0x04000008}, 2, 3},
    {"GLOBAL", 0xdc008000, 18, 128, 2, {0, 1 << 16}, {0x047f0408, 0x007f0408, 0x047f0008}, 2, 3},
    {"SCRATCH", 0xdc004000, 18, 128, 2, {0, 1 << 16}, {0x047f0408, 0x007f0408, 0x047f0008}, 2, 3},
    {"MUBUF", 0xe0000000, 18, 128, 2, {1 << 12, 0, 1 << 16}, {0x04020408, 0, 0x04020000}, 3, 3},
    {"MTBUF", 0xe8000000, 15, 16, 2, {1 << 12 | 4 << 19 | 4u << 23}, {0x04020408}, 1, 1},
    {"MIMG", 0xf0000000, 18, 128, 2, {0xf00, 0x100, 0x300, 0x1f00}, {0x00020408, 0x00620408}, 4, 2},
};

struct candidate {
    const struct walk *walk;
    unsigned opcode;
    uint32_t words[2];
    char theirs[48]; // LLVM's mnemonic without form suffix, or empty
};

static struct candidate candidates[MAX_CANDIDATES];
static size_t n_candidates;

static void make_candidates(const struct walk *w)
{
    for (unsigned op = 0; op < w->opcodes; op++)
        for (unsigned f = 0; f < w->n_first; f++)
            for (unsigned s = 0; s < w->n_second && n_candidates < MAX_CANDIDATES; s++) {
                const uint32_t first = w->base | op << w->shift | w->first[f];
                candidates[n_candidates++] =
                    (struct candidate){.walk = w, .opcode = op, .words = {first, w->second[s]}, .theirs = ""};
            }
}

static void write_word(FILE *out, uint32_t v)
{
    fprintf(out, "0x%02x 0x%02x 0x%02x 0x%02x ", v & 255, v >> 8 & 255, v >> 16 & 255, v >> 24);
}

// A candidate a line, each followed by two s_nop with the low bits of its number, so that the output can be
// told apart even when a candidate takes one of them for its literal.
static int write_input(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return -1;
    for (size_t i = 0; i < n_candidates; i++) {
        for (unsigned k = 0; k < candidates[i].walk->words; k++)
            write_word(out, candidates[i].words[k]);
        for (unsigned k = 0; k < 2; k++) {
            fputc('\n', out);
            write_word(out, 0xbf800000u | (uint32_t)(i & 0xffff));
        }
        fputc('\n', out);
    }
    return fclose(out);
}

// "v_add_f32_e32 v1, ..." becomes "v_add_f32".
static void keep_mnemonic(char *line)
{
    line[strcspn(line, " \t\n")] = 0;
    static const char *const suffixes[] = {"_e32", "_e64", "_sdwa", "_dpp"};
    const size_t n = strlen(line);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        const size_t m = strlen(suffixes[i]);
        if (n > m && !strcmp(line + n - m, suffixes[i])) {
            line[n - m] = 0;
            return;
        }
    }
}

// State of reading LLVM's output: candidate `i`, instructions and separators seen for it so far.
struct reader {
    size_t i;
    unsigned instructions, separators;
    char first[48];
};

// A candidate counts when it gave one instruction and swallowed neither separator as a literal.
static void next_candidate(struct reader *r)
{
    if (r->i < n_candidates && r->instructions == 1 && r->separators == 2)
        memcpy(candidates[r->i].theirs, r->first, sizeof(r->first));
    r->i++;
    r->instructions = r->separators = 0;
}

static bool is_separator(const char *line, size_t i)
{
    return i < n_candidates && !strncmp(line, "s_nop ", 6) && strtoul(line + 6, NULL, 0) == (i & 0xffff);
}

static void read_line(struct reader *r, char *line)
{
    if (r->separators && !is_separator(line, r->i))
        next_candidate(r);
    if (is_separator(line, r->i)) {
        if (++r->separators == 2)
            next_candidate(r);
        return;
    }
    if (r->instructions++)
        return;
    keep_mnemonic(line);
    snprintf(r->first, sizeof(r->first), "%.47s", line);
}

static void read_output(FILE *in)
{
    char line[512];
    struct reader r = {0};
    while (fgets(line, sizeof(line), in)) {
        char *s = line;
        while (isspace((unsigned char)*s))
            s++;
        if (*s && *s != '.')
            read_line(&r, s);
    }
}

// Lines LLVM complains about did not decode as one instruction.
static void read_warnings(FILE *in)
{
    char line[512];
    while (fgets(line, sizeof(line), in)) {
        const char *warning = strstr(line, ": warning: ");
        const char *number = strchr(line, ':');
        if (!warning || !number)
            continue;
        const size_t i = (strtoul(number + 1, NULL, 10) - 1) / 3;
        if (i < n_candidates)
            candidates[i].theirs[0] = 0;
    }
}

static int run_disassembler(const char *dir)
{
    char in[64], out[64], err[64], command[320];
    snprintf(in, sizeof(in), "%s/in", dir);
    snprintf(out, sizeof(out), "%s/out", dir);
    snprintf(err, sizeof(err), "%s/err", dir);
    snprintf(command, sizeof(command),
             "llvm-mc-15 -triple=amdgcn-amd-amdhsa -mcpu=gfx90a -disassemble %s >%s 2>%s", in, out, err);
    if (write_input(in) || system(command) < 0)
        return -1;
    FILE *f = fopen(out, "r"), *g = fopen(err, "r");
    if (f && g) {
        read_output(f);
        read_warnings(g);
    }
    const int result = f && g ? 0 : -1;
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    unlink(in);
    unlink(out);
    unlink(err);
    return result;
}

// What LLVM reads more widely than the architecture: a cache operation at its number of older chips, and an
// AGPR move whose source field names a scalar register.
static bool is_llvm_excess(const struct candidate *c)
{
    return (c->words[0] & 0xfffc0000u) == 0xe1c40000u || c->words[0] == 0x7e00a400u;
}

// Every candidate LLVM knows must decode here alike. Returns the number of differences.
static unsigned compare_candidates(unsigned *known, unsigned *alike)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < n_candidates; i++) {
        const struct candidate *c = &candidates[i];
        if (!c->theirs[0] || is_llvm_excess(c))
            continue;
        struct sg_inst inst;
        const int n = sg_decode(c->words, c->walk->words, &inst);
        ++*known;
        if (n == (int)c->walk->words && !strcmp(inst.info->mnemonic, c->theirs)) {
            ++*alike;
            continue;
        }
        if (wrong++ < 40)
            printf("%s opcode 0x%x [%08x %08x]: LLVM %s, here %s (%d dwords)\n", c->walk->name, c->opcode,
                   c->words[0], c->words[1], c->theirs, n ? inst.info->mnemonic : "nothing", n);
    }
    return wrong;
}

// Does some candidate of LLVM's carry this mnemonic?
static bool llvm_knows(const char *mnemonic)
{
    for (size_t i = 0; i < n_candidates; i++)
        if (!strcmp(candidates[i].theirs, mnemonic))
            return true;
    return false;
}

static unsigned compare_rows(void)
{
    unsigned wrong = 0;
    for (unsigned e = 0; e < SG_ENC_COUNT; e++) {
        const struct sg_optable *t = sg_optables[e];
        for (size_t r = 0; t && r < t->count; r++) {
            const bool sorted = !r || t->rows[r - 1].opcode < t->rows[r].opcode;
            if (sorted && t->rows[r].encoding == e && llvm_knows(t->rows[r].mnemonic))
                continue;
            wrong++;
            printf("row %s (encoding %u, opcode 0x%x): %s\n", t->rows[r].mnemonic, e, t->rows[r].opcode,
                   sorted ? "not an instruction of LLVM's" : "out of order");
        }
    }
    return wrong;
}

static unsigned count_distinct(void)
{
    unsigned n = 0;
    for (size_t i = 0; i < n_candidates; i++) {
        if (!candidates[i].theirs[0])
            continue;
        size_t k = i;
        while (k-- > 0 && candidates[k].walk == candidates[i].walk)
            if (candidates[k].opcode == candidates[i].opcode && candidates[k].theirs[0])
                break;
        n += k == (size_t)-1 || candidates[k].walk != candidates[i].walk;
    }
    return n;
}

int main(void)
{
    if (system("llvm-mc-15 --version >/dev/null 2>&1")) {
        printf("skipped: llvm-mc-15 is not installed\n");
        return SKIPPED;
    }
    char dir[] = "/tmp/sg_decode_walk.XXXXXX";
    if (!mkdtemp(dir))
        return 1;
    for (size_t i = 0; i < sizeof(walks) / sizeof(*walks); i++)
        make_candidates(&walks[i]);
    const int failed = run_disassembler(dir);
    rmdir(dir);
    if (failed)
        return 1;
    unsigned known = 0, alike = 0;
    unsigned wrong = compare_candidates(&known, &alike);
    wrong += compare_rows();
    printf("decoded %u of %u encodings of %u opcodes\n", alike, known, count_distinct());
    return wrong || known < 2000;
}
