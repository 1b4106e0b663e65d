"""Signs that an accuracy is measured wrong rather than low, and the page that says what to check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.answers.unreadable import MAX_SHARE
from steelyard.cli import show
from steelyard.evaluation.percentages import percent

if TYPE_CHECKING:
    from steelyard.voting.pools.pool import LabelledPool

PAGE = "docs/wrong-accuracy.md"


def warn_of_accuracy(pool: LabelledPool) -> None:
    """Point to the page in one line where many answers are unreadable, or the vote is worse than one response."""
    signs = [sign for sign in (_unreadable(pool), _below_one(pool)) if sign]
    if signs:
        show.note(f"{' and '.join(signs)}: if the accuracy looks wrong, go through the checks in {PAGE}")


def _unreadable(pool: LabelledPool) -> str:
    share = 1 - float(pool.readable.mean())
    return f"{percent(share)} % of the responses have no readable answer" if share > MAX_SHARE else ""


def _below_one(pool: LabelledPool) -> str:
    """Whether majority vote over all samples is less accurate than a single response, on average over questions."""
    import numpy as np

    from steelyard.voting.methods import method_class

    majority = float(method_class("majority")().predict(pool).correct(pool).mean())
    single = float((np.add.reduceat(pool.correct.astype(float), pool.starts[:-1]) / pool.sizes).mean())
    if majority >= single - 1e-9:
        return ""
    return f"majority vote ({percent(majority)} %) is less accurate than a single response ({percent(single)} %)"
