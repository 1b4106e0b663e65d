"""The rows of numbers a vLLM server returns, and of which kind they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.sampling.llm.faults import TryError
from steelyard.sampling.verifiers.protocol import Array, Rendered


@dataclass(frozen=True)
class Kind:
    """What a server returns."""

    a_row: str  # "tag" or "token"
    probabilities: bool
    columns: int


def kind_of(rows: Array, rendered: Rendered) -> Kind | str:
    """What kind of reply this is, or what is wrong with it."""
    steps, tokens = len(rendered.positions), len(rendered.ids)
    if rows.ndim != 2 or rows.shape[0] not in (steps, tokens) or rows.shape[1] not in (1, 2):
        shape = " x ".join(map(str, rows.shape))
        return f"the server gave {shape} numbers, expected 2 for each of {steps} steps or {tokens} tokens"
    if not np.isfinite(rows).all():
        return "the server gave numbers that are not finite"
    inside = bool(((rows >= 0) & (rows <= 1)).all())
    probabilities = inside and (rows.shape[1] == 1 or bool(np.allclose(rows.sum(1), 1, atol=1e-3)))
    return Kind("tag" if rows.shape[0] == steps else "token", probabilities, rows.shape[1])


def rows_of(reply: Any) -> Array:
    """The rows of the one result of a reply."""
    try:
        (result,) = reply["data"]
        return np.array(result["data"], np.float64)
    except (TypeError, KeyError, ValueError):
        raise TryError("the reply holds no rows of numbers") from None
