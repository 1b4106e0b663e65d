"""Write src/steelyard/tables/data/grid_figures.json: what `steelyard grid` prints, computed from the grid.

`python -m recipes.grid.figures` takes a few seconds. The file also says which grid it was computed from.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from steelyard.cli.grid_figures import FIGURES
from steelyard.evaluation.accuracy import accuracy
from steelyard.tables.labelled import load_grid
from steelyard.tables.sources.bundled_grid import GRID, grid_names
from steelyard.voting.fitting.score_quality import auroc, auroc_within
from steelyard.voting.methods import method_class

DECIMALS = 9


def pair_figures(llm: str, verifier: str) -> dict[str, float]:
    """How well a verifier tells correct responses of a language model from wrong ones."""
    pool = load_grid(llm, verifier)
    return {"auroc": auroc(pool), "auroc_within": auroc_within(pool)}


def figures() -> dict[str, Any]:
    """How good each language model is, and how well each verifier tells correct from wrong, from the grid itself."""
    llms, verifiers = grid_names()
    found: dict[str, Any] = {"llms": {}}
    for llm in llms:
        pool = load_grid(llm, verifiers[-1])  # its scores break ties
        found["llms"][llm] = {
            "pass@1": float(pool.correct.mean()),
            "majority": float(accuracy(method_class("majority")().predict(pool), pool)),
            "pass@n": float(accuracy(method_class("pass-at-n")().predict(pool), pool)),
        }
    pairs = {verifier: {llm: pair_figures(llm, verifier) for llm in llms} for verifier in verifiers}
    return {"questions": pool.n_questions, "samples": pool.n, **found, "verifiers": pairs}


def grid_hash() -> str:
    """The SHA-256 of the bundled grid."""
    return hashlib.sha256(GRID.read_bytes()).hexdigest()


def rounded(found: Any) -> Any:
    """The figures, floats to nine decimals."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    return round(found, DECIMALS) if isinstance(found, float) else found


def main() -> None:
    """Compute and write."""
    FIGURES.write_text(json.dumps({"grid_sha256": grid_hash(), "figures": rounded(figures())}, indent=1) + "\n")
    print(f"written: {FIGURES}")


if __name__ == "__main__":
    main()
