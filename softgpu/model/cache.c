// SPDX-License-Identifier: MIT
// Cache tags, no data. Geometry of the L2 of one MI200 die: 8 MiB, 16 ways, lines of 128 bytes (AMD CDNA 2 white paper),
// 32 channels interleaved at 256 bytes (ROCm Compute Profiler documentation, "L2 cache (TCC)"). How hardware hashes
// addresses to channels is not published; here bits are folded. A line is filled by halves of 64 bytes, as requests to
// memory have at most that many; written bytes are remembered by 32, the smallest request. Written lines stay until they
// are evicted or the dispatch ends, whose release writes them back.
#include "softgpu/model/internal.h"

#include <stdlib.h>
#include <string.h>

bool sg_tags_init(struct sg_tags *t, uint32_t sets, uint32_t ways)
{
    *t = (struct sg_tags){.tag = calloc((size_t)sets * ways, sizeof *t->tag), .sets = sets, .ways = ways};
    return t->tag;
}

void sg_tags_reset(struct sg_tags *t)
{
    memset(t->tag, 0, (size_t)t->sets * t->ways * sizeof *t->tag);
}

bool sg_tags_touch(struct sg_tags *t, uint64_t line, bool allocate)
{
    uint64_t *set = &t->tag[line % t->sets * t->ways];
    uint32_t way = 0;
    while (way < t->ways && set[way] != line + 1)
        way++;
    const bool hit = way < t->ways;
    if (!hit && !allocate)
        return false;
    memmove(set + 1, set, (hit ? way : t->ways - 1) * sizeof *set);
    set[0] = line + 1;
    return hit;
}

bool sg_l2_init(struct sg_l2 *l2)
{
    *l2 =
        (struct sg_l2){.lines = calloc((size_t)SG_L2_CHANNELS * SG_L2_SETS * SG_L2_WAYS, sizeof *l2->lines)};
    return l2->lines;
}

void sg_l2_reset(struct sg_l2 *l2)
{
    if (l2->used)
        memset(l2->lines, 0, (size_t)SG_L2_CHANNELS * SG_L2_SETS * SG_L2_WAYS * sizeof *l2->lines);
    l2->used = false;
}

static unsigned channel_of(uint64_t address)
{
    return (unsigned)(address >> 8 ^ address >> 13 ^ address >> 18 ^ address >> 23) % SG_L2_CHANNELS;
}

// Halves of which both quarters were written go as 64 bytes, else each quarter as 32.
static void write_line(struct sg_channel_detail *c, const struct sg_l2_line *line)
{
    for (unsigned half = 0; half < 2; half++) {
        const unsigned quarters = line->dirty >> (2 * half) & 3;
        if (!quarters)
            continue;
        c->ea_writes++;
        c->ea_writes_64 += quarters == 3;
        c->ea_write_latency += SG_MODEL_MEMORY_LATENCY;
        c->ea_cycles += SG_MODEL_EA_CYCLES;
    }
}

static void evict(struct sg_channel_detail *c, const struct sg_l2_line *line)
{
    if (!line->tag)
        return;
    c->evictions++;
    c->writebacks += line->dirty != 0;
    write_line(c, line);
}

static void count_request(struct sg_channel_detail *c, enum sg_access access, bool streaming)
{
    c->requests++;
    c->streaming += streaming;
    c->reads += access == SG_ACCESS_READ;
    c->writes += access == SG_ACCESS_WRITE;
    c->atomics += access == SG_ACCESS_ATOMIC || access == SG_ACCESS_ATOMIC_RETURN;
    c->busy += SG_MODEL_CHANNEL_CYCLES;
}

// The line as the most recent one of its set; `fresh` when it was not there.
static struct sg_l2_line *find_line(struct sg_l2_line *set, uint64_t tag, struct sg_channel_detail *c,
                                    bool *fresh)
{
    unsigned way = 0;
    while (way < SG_L2_WAYS && set[way].tag != tag)
        way++;
    *fresh = way == SG_L2_WAYS;
    struct sg_l2_line line = {.tag = tag};
    if (*fresh)
        evict(c, &set[--way]);
    else
        line = set[way];
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line;
    return &set[0];
}

unsigned sg_l2_access(struct sg_model *m, uint64_t address, enum sg_access access, unsigned quarters,
                      bool streaming)
{
    const unsigned channel = channel_of(address), half = (unsigned)(address >> 6 & 1);
    const uint64_t line_of_channel = address >> 13 << 1 | (address >> 7 & 1);
    struct sg_channel_detail *c = &m->detail.channel[channel];
    struct sg_l2_line *set =
        &m->l2.lines[(channel * SG_L2_SETS + line_of_channel % SG_L2_SETS) * (size_t)SG_L2_WAYS];
    bool fresh;

    m->l2.used = true;
    count_request(c, access, streaming);
    struct sg_l2_line *line = find_line(set, line_of_channel + 1, c, &fresh);
    const bool present = line->valid >> half & 1;
    const bool hit = access == SG_ACCESS_WRITE ? !fresh : present;
    c->hits += hit;
    c->misses += !hit;
    if (access != SG_ACCESS_READ)
        line->dirty |= (uint8_t)(quarters << (2 * half));
    if (access == SG_ACCESS_WRITE) { // nothing to fetch: bytes that were written are known
        if (quarters == 3)
            line->valid |= (uint8_t)(1 << half);
        return SG_MODEL_L2_LATENCY;
    }
    if (present)
        return SG_MODEL_L2_LATENCY;
    line->valid |= (uint8_t)(1 << half);
    c->ea_reads++;
    c->ea_read_latency += SG_MODEL_MEMORY_LATENCY;
    c->ea_cycles += SG_MODEL_EA_CYCLES;
    return SG_MODEL_L2_LATENCY + SG_MODEL_MEMORY_LATENCY;
}

void sg_l2_write_back(struct sg_model *m)
{
    if (!m->l2.used)
        return;
    for (unsigned channel = 0; channel < SG_L2_CHANNELS; channel++) {
        struct sg_channel_detail *c = &m->detail.channel[channel];
        struct sg_l2_line *lines = &m->l2.lines[channel * (size_t)(SG_L2_SETS * SG_L2_WAYS)];
        for (unsigned i = 0; i < SG_L2_SETS * SG_L2_WAYS; i++) {
            c->writebacks_at_end += lines[i].dirty != 0;
            write_line(c, &lines[i]);
        }
    }
}
