"""What a method was fitted on: the pool, how well it votes on it, and the scores to compare later ones with."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import PlanError
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool

OPTIONAL = ("source", "answers", "rename")  # left out of a plan where there is nothing to say


@dataclass(frozen=True)
class Provenance:
    """What a method was fitted on."""

    n: int
    score: str | None
    llm: str | None
    verifier: str | None
    questions: int
    responses: int
    accuracy: float | None
    standard_error: float | None
    reference_scores: tuple[float, ...] = ()  # mean logits of some of the questions, to tell when scores have moved
    source: str | None = None  # the column that names the source of each response
    answers: str | None = None  # the kind of answers; None: an older plan, or a pool that was not read
    rename: dict[str, str] = field(default_factory=dict)  # columns that were given our names

    @classmethod
    def of(cls, pool: Pool, correct: Bools | None, *, references: bool) -> Provenance:
        """Describe a pool, and how many of the verdicts on it are correct [Q], if known."""
        accuracy = error = None
        if correct is not None:
            accuracy = float(correct.mean())
            error = float(correct.std(ddof=1) / np.sqrt(len(correct))) if len(correct) > 1 else None
        score = pool.origin.score
        verifier = "+".join(dict.fromkeys(part.split(":")[0] for part in score.split("+"))) if score else None
        identity = (pool.n, score, pool.origin.llm, verifier, pool.n_questions, pool.n_responses)
        read = (pool.origin.source, pool.origin.answers, dict(pool.origin.rename))
        return cls(*identity, accuracy, error, _references(pool) if references else (), *read)

    def check(self, pool: Pool, *, reads_scores: bool) -> None:
        """Refuse a pool that was read by another score, or with answers of another kind."""
        if reads_scores and self.score and pool.origin.score not in (None, self.score):
            if ":" not in self.score and pool.origin.score == f"{self.score}:last":  # nothing else reads a list
                raise PlanError(
                    f"this plan was fitted on one number per response in {self.score!r}, and here it is a list of step "
                    "scores: fit a plan on step scores, or reduce the lists to the number that the plan was fitted on"
                )
            raise PlanError(
                f"this plan was fitted on the score {self.score!r}, the table was read with {pool.origin.score!r}: "
                f"read it with {argument('score', self.score)}, or fit a plan for {pool.origin.score!r}"
            )
        if self.answers and pool.origin.answers not in (None, self.answers):
            raise PlanError(
                f"this plan was fitted on answers of the kind {self.answers!r}, the table was read with "
                f"{pool.origin.answers!r}: read it with {argument('answers', self.answers)}, or fit a plan for "
                f"{pool.origin.answers!r}"
            )

    def as_dict(self) -> dict[str, Any]:
        """Its values by name, without those that are empty, such as the source of a pool with one source."""
        return {name: value for name, value in asdict(self).items() if name not in OPTIONAL or value}


def _references(pool: Pool) -> tuple[float, ...]:
    from steelyard.voting.confidence.drift import reference_scores

    return tuple(reference_scores(pool).tolist()) if pool.scores is not None else ()
