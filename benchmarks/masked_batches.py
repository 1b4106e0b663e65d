"""How `score --local` read before packs: every response whole, batches by length, an attention mask, one at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.sampling.verifiers.protocol import Array, Rendered
from steelyard.sampling.verifiers.runners.local import Local
from steelyard.sampling.verifiers.runners.packing import BUDGET, batches


def with_mask(local: Local, rendered: Sequence[Rendered], budget: int = BUDGET) -> list[Array]:
    """The scores of each response; its trunk must have the attention it was loaded with."""
    import torch

    found: dict[int, Array] = {}
    for batch in batches([len(each.ids) for each in rendered], budget):
        ids = torch.zeros((len(batch), len(rendered[batch[0]].ids)), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, i in enumerate(batch):
            ids[row, : len(rendered[i].ids)] = torch.tensor(rendered[i].ids)
            mask[row, : len(rendered[i].ids)] = 1
        rows = [row for row, i in enumerate(batch) for _ in rendered[i].positions]
        columns = [position for i in batch for position in rendered[i].positions]
        there = {"input_ids": ids.to(local.reader.device), "attention_mask": mask.to(local.reader.device)}
        with torch.inference_mode():
            seen = local.reader.trunk.trunk(**there, use_cache=False)
            outputs = local.reader.head(seen.last_hidden_state[rows, columns].float()).double().cpu().numpy()
        parts = np.split(outputs, np.cumsum([len(rendered[i].positions) for i in batch])[:-1])
        found |= {i: local.protocol.read(part, range(len(part))) for i, part in zip(batch, parts, strict=True)}
    return [found[i] for i in range(len(rendered))]
