"""Who said what: the names of the sources of a pool, and the code of one for every response.

A source is whatever tells responses apart by their author: an LLM, a prompt, a temperature, an annotator.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import ColumnError, SteelyardWarning
from steelyard.voting.pools.arrays import Codes

MOST = 1000  # sources; a plan names as many


def coded_sources(given: NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    """Return the code of every response's source [R], and the names by code, in their order.

    >>> coded_sources(np.array(["gpt", "llama", "gpt"]))
    (array([0, 1, 0], dtype=int32), ('gpt', 'llama'))
    """
    missing = sum(value is None or str(value) == "nan" for value in given.tolist())
    if missing:
        raise ColumnError(f"{missing} responses have no source: name one for each")
    texts = np.array([str(value) for value in given.tolist()], dtype=np.str_)
    names, codes = np.unique(texts, return_inverse=True)
    return codes.astype(np.int32), checked_names(names.tolist(), "source")


def checked_names(names: Iterable[str], column: str) -> tuple[str, ...]:
    """Return the names of sources; refuse too many or an empty one, and say where two differ by their case alone.

    >>> checked_names(["gpt", "llama"], "llm")
    ('gpt', 'llama')
    """
    found = tuple(names)
    if len(found) > MOST:
        raise ColumnError(
            f"{column!r} has {len(found):,} different values, and a committee has at most {MOST:,} sources: choose the "
            "column that says who answered, such as the LLM"
        )
    alike: dict[str, str] = {}
    for name in found:
        plain = name.strip().casefold()
        if not plain:
            raise ColumnError(f"{column!r} holds an empty name: name the source of every response")
        first = alike.setdefault(plain, name)
        if first != name:
            warnings.warn(
                f"the sources {first!r} and {name!r} differ only by case or spaces: they are counted as two; write "
                "them alike if they are one",
                SteelyardWarning,
                stacklevel=4,
            )
    return found
