// SPDX-License-Identifier: MIT
// Owns the two kernels of kreplay's own, in PTX, which the driver compiles for whatever GPU it finds.
#include "cuda/blocks.h"

#include "cuda/poll.h"

#include <string.h>

#define COMPARE_THREADS 128u
#define SCATTER_THREADS 256u
#define SCATTER_SLICES  32u // thread blocks a copy
#define SCATTER_FEWEST  8u  // below, single copies are as fast
#define SCATTER_MOST    65535u
#define SCATTER_BYTES   ((size_t)1 << 20) // above, a single copy is faster

// One region of a comparison, as the kernel reads it. Blocks are numbered through the list.
struct part {
    uint64_t a, b, bytes, first_block;
};

// In the kernel: is the word an address of one of the ranges? Few are even between the lowest and the highest.
#define LOOK_FOR(number, word)                                                                               \
    "  sub.u64 away, " word ", lowest;\n"                                                                    \
    "  setp.ge.u64 p, away, reach;\n"                                                                        \
    "  @p bra LOOKED" number ";\n"                                                                           \
    "  mov.u32 low, 0;\n"                                                                                    \
    "LOOK" number ":\n"                                                                                      \
    "  setp.ge.u32 p, low, ranges;\n"                                                                        \
    "  @p bra LOOKED" number ";\n"                                                                           \
    "  mul.wide.u32 away, low, 16;\n"                                                                        \
    "  add.u64 away, away, range_list;\n"                                                                    \
    "  ld.global.u64 first, [away];\n"                                                                       \
    "  ld.global.u64 number, [away+8];\n"                                                                    \
    "  sub.u64 first, " word ", first;\n"                                                                    \
    "  setp.lt.u64 p, first, number;\n"                                                                      \
    "  @p mov.u32 seen, 2;\n"                                                                                \
    "  add.u32 low, low, 1;\n"                                                                               \
    "  bra LOOK" number ";\n"                                                                                \
    "LOOKED" number ":\n"

// clang-format off
static const char ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    // Bit 0 of changed[i] = both sides of block i differ, bit 1 = a word of them is an address of the ranges
    // {base, bytes}, which lie in the p_reach bytes from p_lowest. Blocks are numbered through a list of regions
    // {a, b, bytes, first block}. One thread block a block; each finds its region: the last that begins at or
    // before it.
    ".visible .entry kr_compare(.param .u64 p_list, .param .u32 p_count, .param .u64 p_block_bytes,\n"
    "                           .param .u64 p_changed, .param .u64 p_ranges, .param .u32 p_range_count,\n"
    "                           .param .u64 p_lowest, .param .u64 p_reach)\n"
    "{\n"
    "  .reg .pred p, differs, found;\n"
    "  .reg .b16 h1, h2;\n"
    "  .reg .b32 tid, threads, block, sum, seen, ranges, low, high, middle, x<4>, y<4>;\n"
    "  .reg .b64 word1, word2, range_list, lowest, reach, away;\n"
    "  .reg .b64 list, a, b, left, size, offset, number, first, index, step, words, at, mask, out;\n"
    "  ld.param.u64 list, [p_list];\n"
    "  ld.param.u32 high, [p_count];\n"
    "  ld.param.u64 size, [p_block_bytes];\n"
    "  mov.u32 tid, %tid.x;\n"
    "  mov.u32 threads, %ntid.x;\n"
    "  mov.u32 block, %ctaid.x;\n"
    "  cvt.u64.u32 number, block;\n"
    "  mov.u32 low, 0;\n"
    "SEARCH:\n"
    "  sub.u32 middle, high, low;\n"
    "  setp.le.u32 p, middle, 1;\n"
    "  @p bra FOUND;\n"
    "  shr.u32 middle, middle, 1;\n"
    "  add.u32 middle, middle, low;\n"
    "  mul.wide.u32 at, middle, 32;\n"
    "  add.u64 at, at, list;\n"
    "  ld.global.u64 first, [at+24];\n"
    "  setp.le.u64 p, first, number;\n"
    "  @p mov.u32 low, middle;\n"
    "  @!p mov.u32 high, middle;\n"
    "  bra SEARCH;\n"
    "FOUND:\n"
    "  mul.wide.u32 at, low, 32;\n"
    "  add.u64 at, at, list;\n"
    "  ld.global.u64 a, [at];\n"
    "  ld.global.u64 b, [at+8];\n"
    "  ld.global.u64 left, [at+16];\n"
    "  ld.global.u64 first, [at+24];\n"
    "  sub.u64 offset, number, first;\n"
    "  mul.lo.u64 offset, offset, size;\n"
    "  sub.u64 left, left, offset;\n"
    "  min.u64 size, size, left;\n"
    "  add.u64 a, a, offset;\n"
    "  add.u64 b, b, offset;\n"
    "  mul.wide.u32 step, threads, 1;\n"
    "  mul.wide.u32 index, tid, 1;\n"
    "  mov.u32 sum, 0;\n"
    "  mov.u32 seen, 0;\n"
    "  ld.param.u64 range_list, [p_ranges];\n"
    "  ld.param.u32 ranges, [p_range_count];\n"
    "  ld.param.u64 lowest, [p_lowest];\n"
    "  ld.param.u64 reach, [p_reach];\n"
    // In words of 16 bytes where both sides are aligned, the rest in words of 8 likewise, the rest in bytes.
    "  mov.u64 words, 0;\n"
    "  or.b64 mask, a, b;\n"
    "  and.b64 mask, mask, 15;\n"
    "  setp.ne.u64 p, mask, 0;\n"
    "  @p bra HALVES;\n"
    "  shr.u64 words, size, 4;\n"
    "WORD:\n"
    "  setp.ge.u64 p, index, words;\n"
    "  @p bra HALVES;\n"
    "  shl.b64 at, index, 4;\n"
    "  add.u64 mask, a, at;\n"
    "  ld.global.v4.u32 {x0, x1, x2, x3}, [mask];\n"
    "  add.u64 mask, b, at;\n"
    "  ld.global.v4.u32 {y0, y1, y2, y3}, [mask];\n"
    "  mov.b64 word1, {x0, x1};\n"
    "  mov.b64 word2, {x2, x3};\n"
    LOOK_FOR("1", "word1")
    LOOK_FOR("2", "word2")
    "  mov.b64 word1, {y0, y1};\n"
    "  mov.b64 word2, {y2, y3};\n"
    LOOK_FOR("3", "word1")
    LOOK_FOR("4", "word2")
    "  xor.b32 x0, x0, y0;\n"
    "  xor.b32 x1, x1, y1;\n"
    "  xor.b32 x2, x2, y2;\n"
    "  xor.b32 x3, x3, y3;\n"
    "  or.b32 sum, sum, x0;\n"
    "  or.b32 sum, sum, x1;\n"
    "  or.b32 sum, sum, x2;\n"
    "  or.b32 sum, sum, x3;\n"
    "  add.u64 index, index, step;\n"
    "  bra WORD;\n"
    "HALVES:\n"
    "  shl.b64 words, words, 1;\n"
    "  or.b64 mask, a, b;\n"
    "  and.b64 mask, mask, 7;\n"
    "  setp.ne.u64 p, mask, 0;\n"
    "  @p bra BYTES;\n"
    "  mul.wide.u32 index, tid, 1;\n"
    "  add.u64 index, index, words;\n"
    "  shr.u64 words, size, 3;\n"
    "HALF:\n"
    "  setp.ge.u64 p, index, words;\n"
    "  @p bra BYTES;\n"
    "  shl.b64 at, index, 3;\n"
    "  add.u64 mask, a, at;\n"
    "  ld.global.u64 word1, [mask];\n"
    "  add.u64 mask, b, at;\n"
    "  ld.global.u64 word2, [mask];\n"
    LOOK_FOR("5", "word1")
    LOOK_FOR("6", "word2")
    "  setp.ne.u64 p, word1, word2;\n"
    "  @p mov.u32 sum, 1;\n"
    "  add.u64 index, index, step;\n"
    "  bra HALF;\n"
    "BYTES:\n"
    "  shl.b64 at, words, 3;\n"
    "  mul.wide.u32 index, tid, 1;\n"
    "  add.u64 index, index, at;\n"
    "BYTE:\n"
    "  setp.ge.u64 p, index, size;\n"
    "  @p bra DONE;\n"
    "  add.u64 mask, a, index;\n"
    "  ld.global.u8 h1, [mask];\n"
    "  add.u64 mask, b, index;\n"
    "  ld.global.u8 h2, [mask];\n"
    "  xor.b16 h1, h1, h2;\n"
    "  cvt.u32.u16 x0, h1;\n"
    "  or.b32 sum, sum, x0;\n"
    "  add.u64 index, index, step;\n"
    "  bra BYTE;\n"
    "DONE:\n"
    "  setp.ne.u32 p, sum, 0;\n"
    "  bar.red.or.pred differs, 0, p;\n"
    "  setp.ne.u32 p, seen, 0;\n"
    "  bar.red.or.pred found, 0, p;\n"
    "  setp.ne.u32 p, tid, 0;\n"
    "  @p ret;\n"
    "  selp.u32 sum, 1, 0, differs;\n"
    "  selp.u32 seen, 2, 0, found;\n"
    "  or.b32 sum, sum, seen;\n"
    "  ld.param.u64 out, [p_changed];\n"
    "  mul.wide.u32 index, block, 1;\n"
    "  add.u64 out, out, index;\n"
    "  st.global.u8 [out], sum;\n"
    "  ret;\n"
    "}\n"
    // Copies a list of {to, from, bytes}. Row y of the grid does copy y; its thread blocks share the bytes.
    ".visible .entry kr_scatter(.param .u64 p_list)\n"
    "{\n"
    "  .reg .pred p;\n"
    "  .reg .b16 h;\n"
    "  .reg .b32 tid, threads, x, columns, row, w<4>;\n"
    "  .reg .b64 list, to, from, size, index, step, words, at, mask, "
    "start;\n"
    "  ld.param.u64 list, [p_list];\n"
    "  mov.u32 row, %ctaid.y;\n"
    "  mul.wide.u32 at, row, 24;\n"
    "  add.u64 list, list, at;\n"
    "  ld.global.u64 to, [list];\n"
    "  ld.global.u64 from, [list+8];\n"
    "  ld.global.u64 size, [list+16];\n"
    "  mov.u32 tid, %tid.x;\n"
    "  mov.u32 threads, %ntid.x;\n"
    "  mov.u32 x, %ctaid.x;\n"
    "  mov.u32 columns, %nctaid.x;\n"
    "  mad.lo.u32 x, x, threads, tid;\n"
    "  mul.wide.u32 start, x, 1;\n"
    "  mul.wide.u32 step, threads, columns;\n"
    "  mov.u64 words, 0;\n"
    "  or.b64 mask, to, from;\n"
    "  and.b64 mask, mask, 15;\n"
    "  setp.ne.u64 p, mask, 0;\n"
    "  @p bra BYTES;\n"
    "  shr.u64 words, size, 4;\n"
    "  mov.u64 index, start;\n"
    "WORD:\n"
    "  setp.ge.u64 p, index, words;\n"
    "  @p bra BYTES;\n"
    "  shl.b64 at, index, 4;\n"
    "  add.u64 mask, from, at;\n"
    "  ld.global.v4.u32 {w0, w1, w2, w3}, [mask];\n"
    "  add.u64 mask, to, at;\n"
    "  st.global.v4.u32 [mask], {w0, w1, w2, w3};\n"
    "  add.u64 index, index, step;\n"
    "  bra WORD;\n"
    "BYTES:\n"
    "  shl.b64 at, words, 4;\n"
    "  add.u64 index, start, at;\n"
    "BYTE:\n"
    "  setp.ge.u64 p, index, size;\n"
    "  @p ret;\n"
    "  add.u64 mask, from, index;\n"
    "  ld.global.u8 h, [mask];\n"
    "  add.u64 mask, to, index;\n"
    "  st.global.u8 [mask], h;\n"
    "  add.u64 index, index, step;\n"
    "  bra BYTE;\n"
    "}\n";
// clang-format on

CUresult kr_blocks_set_up(struct kr_blocks *blocks, const struct kr_driver *driver, const char **step)
{
    _Static_assert(sizeof(struct part) == 32, "the compare kernel reads struct part");
    *step = "cuModuleLoadData";
    CUresult result = driver->module_load_data(&blocks->module, ptx);
    if (result != CUDA_SUCCESS)
        return result;
    *step = "cuModuleGetFunction";
    result = driver->module_get_function(&blocks->compare, blocks->module, "kr_compare");
    if (result == CUDA_SUCCESS)
        result = driver->module_get_function(&blocks->scatter, blocks->module, "kr_scatter");
    return result;
}

// What an earlier call gave up waiting for must not use the buffers any more.
static int settle(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                  uint64_t bound_ns)
{
    int status = kr_poll_stream(driver, stream, bound_ns);
    blocks->late = status == KREPLAY_TIMEOUT;
    return status;
}

// Buffers only grow, half more than needed.
static int grow_memory(struct kr_blocks *blocks, const struct kr_driver *driver, size_t bytes)
{
    if (bytes <= blocks->memory_bytes)
        return 0;
    if (blocks->memory)
        driver->mem_free(blocks->memory);
    blocks->memory = 0;
    blocks->memory_bytes = 0;
    if (driver->mem_alloc(&blocks->memory, bytes + bytes / 2) != CUDA_SUCCESS)
        return KREPLAY_NO_MEMORY;
    blocks->memory_bytes = bytes + bytes / 2;
    return 0;
}

static int grow_staged(struct kr_blocks *blocks, const struct kr_driver *driver, size_t bytes)
{
    void *at = NULL;
    if (bytes <= blocks->staged_bytes)
        return 0;
    if (blocks->staged)
        driver->mem_free_host(blocks->staged);
    blocks->staged = NULL;
    blocks->staged_bytes = 0;
    if (driver->mem_host_alloc(&at, bytes + bytes / 2, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
        return KREPLAY_NO_MEMORY;
    blocks->staged = at;
    blocks->staged_bytes = bytes + bytes / 2;
    return 0;
}

static size_t blocks_of(const struct kr_comparison *item, size_t block_bytes)
{
    return item->bytes / block_bytes + (item->bytes % block_bytes != 0);
}

// Writes the list as the kernel reads it. Regions without a block are left out.
static uint32_t stage(struct part *parts, const struct kr_comparison *list, size_t count, size_t block_bytes)
{
    uint64_t block = 0;
    uint32_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].bytes == 0)
            continue;
        parts[used++] = (struct part){(uintptr_t)list[i].a, (uintptr_t)list[i].b, list[i].bytes, block};
        block += blocks_of(&list[i], block_bytes);
    }
    return used;
}

// What the kernel gets: lists and map are at these places of `memory` and `staged`.
struct comparison {
    uint32_t count, range_count, block_count;
    size_t block_bytes, ranges_at, map_at;
    uint64_t lowest, reach; // of the ranges
};

static void stage_ranges(unsigned char *staged, const struct kr_ranges *ranges, struct comparison *plan)
{
    uint64_t highest = 0;
    plan->lowest = UINT64_MAX;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct kr_range *range = &ranges->list[i];
        plan->lowest = range->base < plan->lowest ? range->base : plan->lowest;
        highest = range->base + range->bytes > highest ? range->base + range->bytes : highest;
    }
    plan->range_count = (uint32_t)ranges->count;
    plan->reach = ranges->count > 0 ? highest - plan->lowest : 0;
    if (ranges->count > 0)
        memcpy(staged + plan->ranges_at, ranges->list, ranges->count * sizeof *ranges->list);
}

static int run_compare(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                       uint64_t bound_ns, struct comparison *plan)
{
    CUdeviceptr staged = (CUdeviceptr)(uintptr_t)blocks->staged, map = blocks->memory + plan->map_at,
                ranges = blocks->memory + plan->ranges_at;
    void *arguments[] = {&blocks->memory, &plan->count,       &plan->block_bytes, &map,
                         &ranges,         &plan->range_count, &plan->lowest,      &plan->reach};
    if (driver->memcpy_async(blocks->memory, staged, plan->map_at, stream) != CUDA_SUCCESS ||
        driver->launch_kernel(blocks->compare, plan->block_count, 1, 1, COMPARE_THREADS, 1, 1, 0, stream,
                              arguments, NULL) != CUDA_SUCCESS ||
        driver->memcpy_async(staged + plan->map_at, map, plan->block_count, stream) != CUDA_SUCCESS) {
        int status = settle(blocks, driver, stream, bound_ns); // what was begun still uses the buffers
        return status != 0 ? status : KREPLAY_DEVICE;
    }
    return settle(blocks, driver, stream, bound_ns);
}

// Takes the map apart: what differs for each region, and whether an address was seen in any.
static bool hand_out(const unsigned char *map, const struct kr_comparison *list, size_t count,
                     size_t block_bytes)
{
    unsigned char all = 0;
    for (size_t i = 0; i < count; i++) {
        size_t own = blocks_of(&list[i], block_bytes);
        for (size_t k = 0; k < own; k++) {
            all |= map[k];
            list[i].changed[k] = map[k] & 1;
        }
        map += own;
    }
    return all & 2;
}

int kr_blocks_compare(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                      uint64_t bound_ns, const struct kr_comparison *list, size_t count, size_t block_bytes,
                      const struct kr_ranges *ranges, bool *found)
{
    size_t block_count = 0, ranges_at = count * sizeof(struct part),
           map_at = ranges_at + ranges->count * sizeof *ranges->list;

    for (size_t i = 0; i < count; i++)
        block_count += blocks_of(&list[i], block_bytes);
    if (block_count == 0)
        return 0;
    if (block_count > INT32_MAX || count > INT32_MAX || ranges->count > INT32_MAX) // the grid's limit
        return KREPLAY_UNSUPPORTED;
    if (blocks->late && settle(blocks, driver, stream, bound_ns) != 0)
        return KREPLAY_TIMEOUT;
    if (grow_memory(blocks, driver, map_at + block_count) != 0 ||
        grow_staged(blocks, driver, map_at + block_count) != 0)
        return KREPLAY_NO_MEMORY;
    struct comparison plan = {.block_count = (uint32_t)block_count,
                              .block_bytes = block_bytes,
                              .ranges_at = ranges_at,
                              .map_at = map_at};
    plan.count = stage((struct part *)blocks->staged, list, count, block_bytes);
    stage_ranges(blocks->staged, ranges, &plan);
    int status = run_compare(blocks, driver, stream, bound_ns, &plan);
    if (status == 0 && hand_out(blocks->staged + map_at, list, count, block_bytes))
        *found = true;
    return status;
}

// Copies the small ones of the list with one kernel, which reads it where it is: pinned host memory is within
// its reach.
static int scatter(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                   const struct kr_copy *list, size_t count, unsigned small)
{
    void *arguments[] = {&blocks->staged};
    if (grow_staged(blocks, driver, small * sizeof *list) != 0)
        return KREPLAY_NO_MEMORY;
    struct kr_copy *staged = (struct kr_copy *)blocks->staged;
    for (size_t i = 0; i < count; i++)
        if (list[i].bytes <= SCATTER_BYTES)
            *staged++ = list[i];
    if (driver->launch_kernel(blocks->scatter, SCATTER_SLICES, small, 1, SCATTER_THREADS, 1, 1, 0, stream,
                              arguments, NULL) != CUDA_SUCCESS)
        return KREPLAY_DEVICE;
    return 0;
}

static int copy_one(const struct kr_driver *driver, CUstream stream, const struct kr_copy *copy)
{
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)copy->to, from = (CUdeviceptr)(uintptr_t)copy->from;
    return driver->memcpy_async(to, from, copy->bytes, stream) == CUDA_SUCCESS ? 0 : KREPLAY_DEVICE;
}

int kr_blocks_copy(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                   uint64_t bound_ns, const struct kr_copy *list, size_t count)
{
    _Static_assert(sizeof(struct kr_copy) == 24, "the scatter kernel reads struct kr_copy");
    size_t small = 0;
    int status = 0;

    for (size_t i = 0; i < count; i++)
        small += list[i].bytes <= SCATTER_BYTES;
    if (blocks->late && settle(blocks, driver, stream, bound_ns) != 0)
        return KREPLAY_TIMEOUT;
    bool together = small >= SCATTER_FEWEST && small <= SCATTER_MOST;
    if (together)
        status = scatter(blocks, driver, stream, list, count, (unsigned)small);
    for (size_t i = 0; i < count && status == 0; i++)
        if (!together || list[i].bytes > SCATTER_BYTES)
            status = copy_one(driver, stream, &list[i]);
    int ended = settle(blocks, driver, stream, bound_ns);
    return ended != 0 ? ended : status;
}
