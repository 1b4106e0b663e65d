"""Base figures of the bundled grid: how good each language model is, how well each verifier tells right from wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.evaluation.accuracy import accuracy
from steelyard.fitting.auroc import auroc, auroc_within
from steelyard.methods import method_class
from steelyard.tables.grid_pools import load_grid
from steelyard.tables.sources.bundled_grid import grid_names


def figures(progress: Callable[[float], None] | None = None) -> dict[str, Any]:
    """Return what `steelyard grid --json` prints."""
    llms, verifiers = grid_names()
    found: dict[str, Any] = {"llms": {}, "verifiers": {verifier: {} for verifier in verifiers}}
    for i, llm in enumerate(llms):
        for j, verifier in enumerate(verifiers):
            pool = load_grid(llm, verifier)
            found["verifiers"][verifier][llm] = {"auroc": auroc(pool), "auroc_within": auroc_within(pool)}
            if progress:
                progress((i * len(verifiers) + j + 1) / (len(llms) * len(verifiers)))
        found["llms"][llm] = {
            "pass@1": float(pool.correct.mean()),
            "majority": float(accuracy(method_class("majority")().predict(pool), pool)),
            "pass@n": float(accuracy(method_class("pass-at-n")().predict(pool), pool)),
        }
    return {"questions": pool.n_questions, "samples": pool.n, **found}
