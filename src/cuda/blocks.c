// SPDX-License-Identifier: MIT
// Owns the two kernels of kreplay's own, in PTX, which the driver compiles for whatever GPU it finds.
#include "cuda/blocks.h"

#include <string.h>

#define COMPARE_THREADS 128u
#define SCATTER_THREADS 256u
#define SCATTER_SLICES  32u // thread blocks a copy
#define SCATTER_FEWEST  8u  // below, single copies are as fast
#define SCATTER_MOST    65535u

static const char ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    // changed[i] = 1 if a and b differ in block i. One thread block a block.
    ".visible .entry kr_compare(.param .u64 p_a, .param .u64 p_b, .param .u64 p_bytes, .param .u64 "
    "p_block_bytes,\n"
    "                           .param .u64 p_changed)\n"
    "{\n"
    "  .reg .pred p, differs;\n"
    "  .reg .b16 h1, h2;\n"
    "  .reg .b32 tid, threads, block, sum, x<4>, y<4>;\n"
    "  .reg .b64 a, b, left, size, offset, index, step, words, at, mask, out;\n"
    "  ld.param.u64 a, [p_a];\n"
    "  ld.param.u64 b, [p_b];\n"
    "  ld.param.u64 left, [p_bytes];\n"
    "  ld.param.u64 size, [p_block_bytes];\n"
    "  mov.u32 tid, %tid.x;\n"
    "  mov.u32 threads, %ntid.x;\n"
    "  mov.u32 block, %ctaid.x;\n"
    "  mul.wide.u32 offset, block, 1;\n"
    "  mul.lo.u64 offset, offset, size;\n"
    "  sub.u64 left, left, offset;\n"
    "  min.u64 size, size, left;\n"
    "  add.u64 a, a, offset;\n"
    "  add.u64 b, b, offset;\n"
    "  mul.wide.u32 step, threads, 1;\n"
    "  mul.wide.u32 index, tid, 1;\n"
    "  mov.u32 sum, 0;\n"
    // In words of 16 bytes where both sides are aligned, the rest in bytes.
    "  mov.u64 words, 0;\n"
    "  or.b64 mask, a, b;\n"
    "  and.b64 mask, mask, 15;\n"
    "  setp.ne.u64 p, mask, 0;\n"
    "  @p bra BYTES;\n"
    "  shr.u64 words, size, 4;\n"
    "WORD:\n"
    "  setp.ge.u64 p, index, words;\n"
    "  @p bra BYTES;\n"
    "  shl.b64 at, index, 4;\n"
    "  add.u64 mask, a, at;\n"
    "  ld.global.v4.u32 {x0, x1, x2, x3}, [mask];\n"
    "  add.u64 mask, b, at;\n"
    "  ld.global.v4.u32 {y0, y1, y2, y3}, [mask];\n"
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
    "BYTES:\n"
    "  shl.b64 at, words, 4;\n"
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
    "  setp.ne.u32 p, tid, 0;\n"
    "  @p ret;\n"
    "  selp.u32 sum, 1, 0, differs;\n"
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
    "  .reg .b64 list, to, from, size, index, step, words, at, mask, start;\n"
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

int kr_blocks_set_up(struct kr_blocks *blocks, const struct kr_driver *driver)
{
    CUmodule module = NULL;
    if (driver->module_load_data(&module, ptx) != CUDA_SUCCESS ||
        driver->module_get_function(&blocks->compare, module, "kr_compare") != CUDA_SUCCESS ||
        driver->module_get_function(&blocks->scatter, module, "kr_scatter") != CUDA_SUCCESS)
        return KREPLAY_DEVICE;
    return 0;
}

// Buffers only grow, half more than needed.
static int grow_map(struct kr_blocks *blocks, const struct kr_driver *driver, size_t bytes)
{
    if (bytes <= blocks->map_bytes)
        return 0;
    if (blocks->map)
        driver->mem_free(blocks->map);
    blocks->map = 0;
    blocks->map_bytes = 0;
    if (driver->mem_alloc(&blocks->map, bytes + bytes / 2) != CUDA_SUCCESS)
        return KREPLAY_NO_MEMORY;
    blocks->map_bytes = bytes + bytes / 2;
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

int kr_blocks_compare(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                      const void *a, const void *b, size_t bytes, size_t block_bytes, uint8_t *changed)
{
    size_t count = bytes / block_bytes + (bytes % block_bytes != 0);
    void *arguments[] = {&a, &b, &bytes, &block_bytes, &blocks->map};

    if (count == 0)
        return 0;
    if (count > INT32_MAX) // the grid's limit
        return KREPLAY_UNSUPPORTED;
    if (grow_map(blocks, driver, count) != 0 || grow_staged(blocks, driver, count) != 0)
        return KREPLAY_NO_MEMORY;
    if (driver->launch_kernel(blocks->compare, (unsigned)count, 1, 1, COMPARE_THREADS, 1, 1, 0, stream,
                              arguments, NULL) != CUDA_SUCCESS ||
        driver->memcpy_async((CUdeviceptr)(uintptr_t)blocks->staged, blocks->map, count, stream) !=
            CUDA_SUCCESS ||
        driver->stream_synchronize(stream) != CUDA_SUCCESS)
        return KREPLAY_DEVICE;
    memcpy(changed, blocks->staged, count);
    return 0;
}

static int scatter(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                   const struct kr_copy *list, size_t count)
{
    // The kernel reads the list where it is: pinned host memory is within its reach.
    void *arguments[] = {&blocks->staged};
    if (grow_staged(blocks, driver, count * sizeof *list) != 0)
        return KREPLAY_NO_MEMORY;
    memcpy(blocks->staged, list, count * sizeof *list);
    if (driver->launch_kernel(blocks->scatter, SCATTER_SLICES, (unsigned)count, 1, SCATTER_THREADS, 1, 1, 0,
                              stream, arguments, NULL) != CUDA_SUCCESS)
        return KREPLAY_DEVICE;
    return 0;
}

static int copy_one(const struct kr_driver *driver, CUstream stream, const struct kr_copy *copy)
{
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)copy->to, from = (CUdeviceptr)(uintptr_t)copy->from;
    return driver->memcpy_async(to, from, copy->bytes, stream) == CUDA_SUCCESS ? 0 : KREPLAY_DEVICE;
}

int kr_blocks_copy(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                   const struct kr_copy *list, size_t count)
{
    _Static_assert(sizeof(struct kr_copy) == 24, "the scatter kernel reads struct kr_copy");
    int status = 0;
    if (count >= SCATTER_FEWEST && count <= SCATTER_MOST)
        status = scatter(blocks, driver, stream, list, count);
    else
        for (size_t i = 0; i < count && status == 0; i++)
            status = copy_one(driver, stream, &list[i]);
    if (driver->stream_synchronize(stream) != CUDA_SUCCESS)
        return KREPLAY_DEVICE;
    return status;
}
