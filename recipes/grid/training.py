"""Training with bf16 weights and float32 masters, in batches of sequences of about one length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Tokens = NDArray[np.int64]


def device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def precision() -> torch.dtype:
    """What weights are held in: bf16, or float32 for a rehearsal on a CPU."""
    return torch.bfloat16 if torch.cuda.is_available() else torch.float32


def batches(lengths: Sequence[int], budget: int, rng: np.random.Generator | None = None) -> list[list[int]]:
    """Group sequences of about the same length; at most `budget` tokens a batch, padding included."""
    keys = np.asarray(lengths) + (rng.random(len(lengths)) * 8 if rng else 0)
    groups: list[list[int]] = []
    longest = 0
    for i in np.argsort(keys, kind="stable"):
        longest = max(longest, lengths[i])
        if not groups or longest * (len(groups[-1]) + 1) > budget:
            groups.append([])
            longest = lengths[i]
        groups[-1].append(int(i))
    if rng:
        rng.shuffle(groups)
    return groups


def padded(rows: Sequence[NDArray[np.generic]], value: float, dtype: torch.dtype) -> Tensor:
    """Stack rows of unequal length, filled on the right."""
    table = np.full((len(rows), max(map(len, rows))), value)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return torch.from_numpy(table).to(dtype).to(device())


def train(
    model: nn.Module,
    loss: Callable[[list[int]], Tensor],
    lengths: Sequence[int],
    *,
    epochs: int,
    rate: float,
    budget: int,
    seed: int,
) -> list[float]:
    """Minimise loss(batch) with AdamW, a short warm-up and a linear decay; return each epoch's mean loss."""
    rng = np.random.default_rng(seed)
    weights, gradient = _joined([p for p in model.parameters() if p.requires_grad])
    master = weights.float().clone()
    optimiser = torch.optim.AdamW([master], lr=rate, weight_decay=0.01, betas=(0.9, 0.95), fused=True)
    total = len(batches(lengths, budget)) * epochs
    means, step = [], 0
    for _ in range(epochs):
        losses = []
        for batch in batches(lengths, budget, rng):
            now = rate * min(1.0, (step + 1) / 30) * max(0.05, 1 - step / total)
            for group in optimiser.param_groups:
                group["lr"] = now
            value = loss(batch)
            value.backward()
            master.grad = gradient.float()
            nn.utils.clip_grad_norm_([master], 1.0)
            optimiser.step()
            weights.copy_(master)
            gradient.zero_()
            losses.append(value.detach())
            step += 1
        means.append(float(torch.stack(losses).mean()))
    return means


def _joined(weights: Sequence[nn.Parameter]) -> tuple[Tensor, Tensor]:
    """Lay all weights and their gradients end to end, so that an update is a handful of launches."""
    values = torch.cat([weight.detach().reshape(-1) for weight in weights])
    gradients = torch.zeros_like(values)
    at = 0
    for weight in weights:
        part = slice(at, at := at + weight.numel())
        weight.data = values[part].view_as(weight)
        weight.grad = gradients[part].view_as(weight)
    return values, gradients


def in_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Batches for a pass without gradients, longest first so that memory is found wanting at once."""
    yield from reversed(batches(lengths, budget))
