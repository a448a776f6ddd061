# SPDX-License-Identifier: MIT
"""One training step of a transformer encoder layer in PyTorch (d_model 512), for running under a profiler."""
import torch

torch.manual_seed(1)
torch.use_deterministic_algorithms(False)
layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True).cuda()
data = torch.randn(16, 128, 512, device="cuda")
step = torch.optim.SGD(layer.parameters(), lr=0.01)
loss = layer(data).square().mean()
loss.backward()
step.step()
torch.cuda.synchronize()
print(f"loss {loss.item():.9f} weights {sum(p.double().abs().sum().item() for p in layer.parameters()):.6f}")
