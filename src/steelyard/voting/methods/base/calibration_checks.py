"""What a calibration set must have for a method to learn from it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from steelyard.foundation.arguments import argument, spelling
from steelyard.foundation.errors import CalibrationError, LabelError, NothingToLearnError, ScoreError, SteelyardWarning
from steelyard.voting.fitting.score_quality import warn_of_suspicious_scores
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import LabelledPool, Pool

P = TypeVar("P", bound=Pool)
FEWEST_QUESTIONS = 10
HALF = 0.5
NAMED = 4  # LLMs in a message
ENOUGH_QUESTIONS = 50


def check_fit(pool: Pool, *, learns: bool, scored: bool, fits_majority: bool) -> None:
    """Refuse a pool that a method with these properties cannot be fitted on; warn about what looks wrong."""
    if scored:
        check_all_scored(pool)
    if learns and not pool.readable.any():
        raise CalibrationError("no response has a readable answer, so there is nothing to learn: check the responses")
    if learns:
        try:
            check_calibration(pool)
        except NothingToLearnError as nothing:
            if not fits_majority:
                raise
            warnings.warn(str(nothing), SteelyardWarning, stacklevel=3)
    if scored and np.isnan(pool.known_scores).all():
        raise ScoreError("every score is missing (NaN): choose another score column, or use 'majority'")
    if scored and isinstance(pool, LabelledPool):
        warn_of_suspicious_scores(pool)
    if scored and not learns:
        warn_of_undirected_scores(pool.origin)


def warn_of_undirected_scores(origin: Origin) -> None:
    """Warn that a vote without labels takes more of a score for better, where labels would have to decide."""
    if origin.undirected:
        name = origin.undirected[0]
        warnings.warn(
            f"whether more or less of {name!r} is better depends on the LLM: calibrated and platt learn it from labels "
            f"('steelyard fit'), a vote without labels takes more for better; if less is, use "
            f"{argument('score', f'1-{name}')}",
            SteelyardWarning,
            stacklevel=4,
        )


def check_calibration(pool: Pool) -> None:
    """Refuse a calibration set that cannot teach anything; warn about a small one."""
    if not isinstance(pool, LabelledPool):
        raise LabelError("fitting needs labels: add a column 'correct' (true/false) or 'gold' (the correct answer)")
    if pool.n_questions < FEWEST_QUESTIONS:
        of_all, fix = _larger_share(pool)
        raise CalibrationError(
            f"{pool.n_questions} calibration questions{of_all} are too few: {fix}label at least {FEWEST_QUESTIONS}, "
            f"better {ENOUGH_QUESTIONS} or more (the methods 'majority' and 'vanilla' need none)"
        )
    usable = pool.readable if pool.scores is None else pool.readable & ~np.isnan(pool.scores)
    if pool.scores is not None and not usable.any() and pool.readable.any():
        raise ScoreError("every score is missing (NaN): choose another score column, or use 'majority'")
    correct = int(pool.correct[usable].sum())
    incorrect = int(usable.sum()) - correct
    if not correct or not incorrect:
        raise NothingToLearnError(
            f"every scored response to the {pool.n_questions:,} calibration questions is "
            f"{'correct' if correct else 'incorrect'}: there is nothing to learn beyond majority vote; "
            f"check the labels, or add questions with {'incorrect' if correct else 'correct'} responses"
        )
    if pool.n_questions < ENOUGH_QUESTIONS:
        warnings.warn(
            f"{pool.n_questions} calibration questions are few: the fitted weights are uncertain; "
            f"{ENOUGH_QUESTIONS} or more are better",
            SteelyardWarning,
            stacklevel=3,
        )
    if pool.origin.llms and pool.source is None:
        column = pool.origin.llm_column or "llm"
        warnings.warn(
            f"the calibration responses are of {listed(pool.origin.llms)}, and one plan is fitted for all of them: "
            "fit each LLM's rows by themselves if they are to vote by themselves, or make them a committee, each worth "
            f"what it has shown, with {argument('source', column)}",
            SteelyardWarning,
            stacklevel=3,
        )


def _larger_share(pool: LabelledPool) -> tuple[str, str]:
    """What the questions were split from, and the share that would do, where half of them are enough."""
    labelled = pool.origin.split_from
    if labelled is None or labelled // 2 < FEWEST_QUESTIONS:
        return "", ""
    half = spelling(python=f"split({HALF}, seed=0)", command_line=f"--calibrate {HALF}")
    return f" of {labelled}", f"calibrate on half of them ({half}), or "


def check_all_scored(pool: Pool) -> None:
    """Refuse scores of a verifier that was asked on demand: those that were requested are no fair sample of all."""
    if pool.scored is not None:
        raise ScoreError(
            f"{int((~pool.scored).sum()):,} of {pool.n_responses:,} scores were not requested (score --frugal), and a "
            "fit needs them all: 'steelyard score' without --frugal asks for the rest, and asks nothing twice"
        )


def listed(llms: Sequence[str]) -> str:
    """Several LLMs in a message.

    >>> listed(["a", "b"])
    '2 LLMs (a, b)'
    """
    more = ", .." if len(llms) > NAMED else ""
    return f"{len(llms)} LLMs ({', '.join(llms[:NAMED])}{more})"


def first_samples(pool: P, n: int | None) -> P:
    """The first n samples of each question, all of them if n is None; say so where no question has as many."""
    if n is None:
        return pool
    if n > pool.n:
        warnings.warn(too_many(n, pool.n), SteelyardWarning, stacklevel=3)
    return pool.first(n)


def too_many(n: int, available: int) -> str:
    """The warning about an n larger than the number of samples.

    >>> too_many(64, 8)
    'n = 64 is more than there is: no question has more than 8 samples, and those are used'
    """
    return f"n = {n} is more than there is: no question has more than {available} samples, and those are used"
