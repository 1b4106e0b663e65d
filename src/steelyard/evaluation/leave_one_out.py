"""What every source adds to the others: the accuracy lost when it is left out and the weights are learned anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import Estimate, estimates
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool

MOST = 1000  # calibration questions; a fit for every source takes a while


def leave_one_out(
    method: Method,
    cal: LabelledPool,
    test: LabelledPool,
    names: Sequence[str],
    *,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Estimate]:
    """Return, for each of these sources, the accuracy with all less that without it, paired over test questions.

    Both votes are fitted on the same calibration questions, evenly spaced ones where there are very many.
    """
    few = cal.take(np.argsort(cal.rank)[:: -(-cal.n_questions // MOST)])
    whole = _correct(method, few, test, test.sources)
    lost = []
    for i, name in enumerate(names):
        rest = [other for other in test.sources if other != name]
        lost.append(whole - _correct(method, few, test, rest))
        if progress:
            progress((i + 1) / len(names))
    return dict(zip(names, estimates(np.column_stack(lost), seed=seed), strict=True))


def _correct(method: Method, cal: LabelledPool, test: LabelledPool, names: Sequence[str]) -> NDArray[np.float64]:
    """Which test questions [Q] the committee of these sources decides correctly; one that none answered is wrong."""
    part = test.from_sources(names)
    known = [name for name in names if name in cal.sources]
    vote = deepcopy(method).fit(cal.from_sources(known))
    place = np.flatnonzero(np.isin(np.asarray(test.questions), np.asarray(part.questions)))
    found = np.zeros(test.n_questions)
    found[place] = vote.predict(part.unlabelled()).correct(part)
    return found
