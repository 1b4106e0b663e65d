"""The stored figures of the bundled grid; `python -m recipes.grid.figures` computes them."""

from __future__ import annotations

from json import loads
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parents[1] / "tables" / "data" / "grid_figures.json"


def figures() -> dict[str, Any]:
    """Read the figures.

    >>> sorted(figures())
    ['llms', 'questions', 'samples', 'verifiers']
    """
    stored: dict[str, Any] = loads(FIGURES.read_text())["figures"]
    return stored
