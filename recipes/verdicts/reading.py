"""Stage read: the verifier reads the responses of the grid in packs, with a mask, and in float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.gpu_scoring import scores
from benchmarks.masked_batches import with_mask
from benchmarks.random_verifiers import token_protocol
from recipes.grid.log import timed
from recipes.grid.ragged import save
from recipes.verdicts.files import MODEL, READ, SCORES, load
from recipes.verdicts.sizes import READINGS, VERIFIER, Sizes
from steelyard.sampling.verifiers.protocol import Array
from steelyard.sampling.verifiers.runners.local import Local
from steelyard.sampling.verifiers.scored_items import Item


def run(work: Path, _: Sizes) -> None:
    """Write the scores of all steps, reading by reading."""
    items = [Item(row["prompt"], row["steps"]) for row in load(work / READ)]
    local = Local(token_protocol(VERIFIER), str(work / MODEL))
    layers = local.reader.trunk
    found: dict[str, list[Array]] = {}
    with timed(work, "read", READINGS[0]) as record:
        found[READINGS[0]] = scores(local, items)
        attention = layers.trunk.config._attn_implementation
        record |= {"responses": len(items), "compiled": layers.on, "attention": attention, **local.detected}
    layers._undo()
    layers.trunk.set_attn_implementation("sdpa")
    rendered = [fit.rendered for _, fit in local._prepare(items).fitted]
    with timed(work, "read", READINGS[1]):
        found[READINGS[1]] = with_mask(local, rendered)
    layers.trunk.float()
    with timed(work, "read", READINGS[2]):
        found[READINGS[2]] = with_mask(local, rendered)
    counts = [[len(each) for each in rows] for rows in found.values()]
    if any(count != [len(item.steps) for item in items] for count in counts):
        raise RuntimeError("a response was not read")
    save(work / SCORES, {name: np.concatenate(rows) for name, rows in found.items()})
