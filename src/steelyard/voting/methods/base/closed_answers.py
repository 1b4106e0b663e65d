"""The answers of a pool as those of one closed set: the same few for every question, such as the letters A to J."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Codes
from steelyard.voting.pools.pool import Pool

MOST = 26  # answers of a closed set


def answer_names(pool: Pool) -> tuple[list[str], Codes]:
    """The different answers of a pool as text, in order, and which of them every response gave [R]; -1 for none."""
    place = np.where(pool.readable, pool.answer, 0)
    if pool.names is None:
        found, code = np.unique(place[pool.readable], return_inverse=True)
    else:
        named = np.asarray(pool.names)[(pool.spread(pool.base) + place)[pool.readable]]
        found, code = np.unique(named, return_inverse=True)
    codes = np.full(pool.n_responses, -1, np.int32)
    codes[pool.readable] = code
    return [str(name) for name in found.tolist()], codes


def closed_set(pool: Pool, rule: str) -> tuple[list[str], Codes]:
    """The same, or an error that says why these answers are no closed set."""
    names, codes = answer_names(pool)
    if not 2 <= len(names) <= min(MOST, pool.n_questions):
        raise SettingError(
            f"rule={rule} needs a closed set of answers, 2 to {MOST} that are the same for every question, and these "
            f"{pool.n_questions:,} questions have {len(names):,} different answers: use rule=agreement"
        )
    return names, codes


def coded_by(pool: Pool, classes: Sequence[str]) -> Codes:
    """Which of these classes every response gave [R]; -1 for none of them."""
    names, codes = answer_names(pool)
    known = {name: k for k, name in enumerate(classes)}
    return np.array([*(known.get(name, -1) for name in names), -1], np.int32)[codes]
