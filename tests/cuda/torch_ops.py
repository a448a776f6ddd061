# SPDX-License-Identifier: MIT
"""A little of everything that PyTorch does: matrix products, elementwise kernels, reductions, sorting, random numbers,
copies, and with the argument "graph" a CUDA graph. Prints results in full, for comparing a run with another."""
import sys

import torch

torch.manual_seed(7)
a = torch.randn(512, 768, device="cuda")
b = torch.randn(768, 256, device="cuda")
c = torch.nn.functional.gelu(a @ b + 1.5)
half = a.bfloat16() @ b.bfloat16()
c.mul_(2).add_(half.float())  # in place
print("sum", c.sum().item(), "norm", c.norm().item(), "softmax", c.softmax(dim=1).std().item())
print("sorted", c.flatten().sort().values[::40000].tolist(), "index", int(c.argmax()), "scan", c[0].cumsum(0)[-1].item())
back = c.cpu().pin_memory().to("cuda", non_blocking=True)
print("copied", bool((back == c).all()))
if "graph" in sys.argv:
    state = torch.zeros(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        state.add_(1)
    for _ in range(3):
        graph.replay()
    print("graph", state.sum().item())
torch.cuda.synchronize()
