# SPDX-License-Identifier: MIT
"""Kernels that Triton compiles: an update in place, a reduction per block, and a counter that all blocks add to."""
import torch
import triton
import triton.language as tl


@triton.jit
def update(data, sums, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(data + at, mask=at < n, other=0.0) * 2 + 1
    tl.store(data + at, values, mask=at < n)
    tl.store(sums + tl.program_id(0), tl.sum(values, axis=0))
    tl.atomic_add(total, 1)


n, block = 100000, 1024
blocks = triton.cdiv(n, block)
data = torch.arange(n, device="cuda", dtype=torch.float32)
sums = torch.zeros(blocks, device="cuda")
total = torch.zeros(1, device="cuda", dtype=torch.int32)
for _ in range(4):
    update[(blocks,)](data, sums, total, n, BLOCK=block)
print("total", total.item(), "of", 4 * blocks, "last", data[-1].item(), "sums", sums.double().sum().item())
