"""The column `answer_set` of verdicts: the answers in each conformal set, the verdict first, then the most likely."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from steelyard.foundation.errors import SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.verdicts import Verdicts

if TYPE_CHECKING:
    from steelyard.voting.confidence.answer_sets import AnswerSetThreshold


def check_sample_count(voter: Method, samples: int, promise: str) -> None:
    """Refuse fewer samples than the reserved questions had: what was measured on these would not hold."""
    fitted = voter.fitted_on_
    if fitted is not None and samples < fitted.n and not voter.weighs_sources:
        raise SettingError(
            f"{promise} with {fitted.n} samples per question, and this vote uses {samples}: fit a plan with "
            f"-n {samples} --set reserve=0.5"
        )


def with_answer_sets(verdicts: Verdicts, pool: Pool, voter: Method, sets: AnswerSetThreshold) -> pl.DataFrame:
    """Return the table of verdicts on a pool with the column; without a readable answer the list is empty."""
    from steelyard.voting.confidence.answer_sets import places

    probabilities = voter.answer_probabilities(pool)
    if probabilities is None:
        raise AssertionError("a method with answer sets has probabilities")
    members = np.flatnonzero(sets.members(probabilities, verdicts.code))
    question = np.repeat(np.arange(pool.n_questions), pool.width)[members]
    first = members == (np.cumsum(pool.width) - pool.width + verdicts.code)[question]
    order = np.lexsort((-probabilities.p[members], ~first, question))
    members, question = members[order], question[order]
    names = pl.Series(pool.names, dtype=pl.String).gather(places(pool)[members]).to_list()
    ends = np.searchsorted(question, np.arange(pool.n_questions + 1)).tolist()
    lists = [names[begin:end] for begin, end in pairwise(ends)]
    return verdicts.to_polars().with_columns(answer_set=pl.Series(lists, dtype=pl.List(pl.String)))
