"""The bundled grid as pools."""

from __future__ import annotations

from steelyard.tables.labelled import read_labelled
from steelyard.tables.sources.bundled_grid import PREFIX
from steelyard.voting.pools.pool import LabelledPool


def load_grid(llm: str, verifier: str) -> LabelledPool:
    """Read the responses of one bundled language model, scored by one of the verifiers.

    `verifier` may name a reducer of the step scores, `prm_soft:min`, or several scores to mix,
    `prm_soft+orm_last`. `grid_names()` lists the names.

    >>> load_grid("smol-misled", "prm_soft")
    LabelledPool(1000 questions, 64000 responses, 0 unreadable, score prm_soft:last)
    """
    return read_labelled(f"{PREFIX}{llm}/{verifier}")
