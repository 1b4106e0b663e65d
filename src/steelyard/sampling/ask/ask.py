"""One question, sampled many times: the answers grouped, their votes and the verdict.

The samples become a table and the table is voted on like any other, so `ask` decides as `vote` would. The score is the
one that every server with log-probabilities gives for nothing: exp(mean log-probability of the sampled tokens). A plan
may know it by two names: `self_logprob`, a column of every run, and `logprob`, the verifier that copies it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from steelyard.answers.auto_kind import DEFAULT
from steelyard.answers.doubtful_answers import is_cut
from steelyard.answers.extract import extract_answer
from steelyard.foundation.errors import PlanError, SteelyardWarning
from steelyard.sampling.ask.ask_verifier import Verified
from steelyard.sampling.llm.draws import Draw
from steelyard.sampling.llm.reply import Choice
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.standing import Standing
from steelyard.tables import read
from steelyard.tables.score_columns import NO_SCORE
from steelyard.voting.methods import load, method_class
from steelyard.voting.methods.base.calibration_checks import listed
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.response_losses import response_losses
from steelyard.voting.methods.base.source_vote import SourceVote
from steelyard.voting.pools.pool import Pool
from steelyard.voting.tally import answer_totals

SCORE = "self_logprob"
COPY = "logprob"
SOURCE = "llm"  # the column of the upstreams' names, as in a run of several


class Vote(NamedTuple):
    """What became of one sample: the answer it counts for (None = unreadable or failed), its score and weight.

    `loss` is what the probability of its answer would lose without it, where the method has probabilities.
    """

    sample: int
    answer: str | None
    score: float | None
    weight: float | None
    loss: float | None = None
    source: str | None = None  # the upstream that gave it, where there are several
    verifier: str | None = None  # whether a verifier read it: "read", "not asked", "words of another", "failed: .."


class Entered(NamedTuple):
    """A sample as it enters a vote: its number, the upstream that gave it (empty for the only one) and its score.

    `verifier` says what became of it there, where one was asked after the sampling.
    """

    sample: int
    source: str
    score: float | None
    verifier: str | None = None


class AnswerTotal(NamedTuple):
    """One answer: how many samples gave it, what they weigh together, and how likely it is, if the method says so."""

    answer: str
    votes: int
    weight: float
    probability: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The verdict on a question (None = no answer could be read), and how it came about; answers by weight.

    `confidence` is the probability that the verdict is correct, None where the method learned none; `none_correct` the
    probability that no answer is correct, where the method has one for each answer.
    """

    answer: str | None
    confidence: float | None
    share: float
    margin: float
    answers: list[AnswerTotal]
    votes: list[Vote]
    none_correct: float | None


def planned(
    path: Path, *, n: int, model: str, sources: Sequence[str] = (), verifier: str | None = None
) -> tuple[Method, str]:
    """Read a plan and the score it goes by; refuse one that goes by a score nobody gives while it samples.

    `verifier` is the one that scores every sample as it comes, if any.
    `sources` are the names of several upstreams. A plan for sources needs them; any other weighs all samples alike.
    """
    voter = load(path)
    fitted = voter.fitted_on_
    score = fitted.score if fitted else None
    if voter.oracle:
        raise PlanError(f"{path} is for {voter.name}, an oracle that reads the correct answers: ask with another plan")
    cascade = voter.cascade_
    known = list(voter.weights_) if isinstance(voter, SourceVote) else list(cascade.sources if cascade else ())
    if any(known) and not sources:
        raise PlanError(f"{path} weighs {listed(known)}: name the upstreams as it does, --upstream {known[0]}=URL,..")
    if cascade:
        return voter, SCORE  # it looks at answers alone, and says itself how many
    if by_score(voter) and (score is None or score.partition(":")[0] not in (SCORE, COPY, verifier)):
        raise PlanError(
            f"{path} weighs by the score {score!r}, which cannot be had while asking: fit a plan with --score {SCORE}, "
            "name the verifier with --verifier, or use generate, score and vote"
        )
    each = max(1, len(sources))
    counted = voter.samples_ is None and not rule_applies(voter)  # else the plan says how many samples to draw
    if fitted and voter.learns and not voter.weighs_sources and counted and fitted.n != n * each:
        _warn(
            f"the plan was fitted at {fitted.n} samples per question, this vote is over {n * each}: "
            f"ask with -n {max(1, fitted.n // each)}"
        )
    if fitted and voter.learns and fitted.llm not in (None, model):
        _warn(f"the plan was fitted on responses of {fitted.llm}, these are of {model}: its weights may not hold")
    return voter, score if by_score(voter) and score else SCORE


def by_score(voter: Method) -> bool:
    """Whether a plan needs the scores: a committee does if it has learned what those of a source are worth."""
    return voter.scored or (voter.weighs_sources and voter.reads_scores())


def unplanned(scored: bool, several: bool = False) -> Method:
    """The method without a plan: each response weighs its score where there is one, else each counts once.

    The scores of several LLMs do not compare, so there each counts once.
    """
    return method_class("vanilla" if scored and not several else "majority")()


def count(
    draws: Sequence[Draw],
    voter: Method,
    *,
    by: str = SCORE,
    answers: str = DEFAULT,
    verified: Verified | None = None,
) -> Outcome:
    """Vote on samples in the order of their numbers; one that failed is there without an answer.

    `verified` is what a verifier said of them.
    """
    rows = in_order(draws)
    pool = pool_of(rows, by=by, answers=answers, verified=verified)
    if verified is None:
        return outcome_of(pool, voter, entered(rows))
    scores = [None if np.isnan(value) else float(value) for value in pool.known_scores]
    told = zip(rows, scores, verified.states, strict=True)
    return outcome_of(pool, voter, [Entered(draw.sample, draw.source, score, state) for draw, score, state in told])


def entered(draws: Sequence[Draw]) -> list[Entered]:
    """Samples as they enter a vote, in this order."""
    return [Entered(draw.sample, draw.source, score_of(draw)) for draw in draws]


def outcome_of(pool: Pool, voter: Method, entered: Sequence[Entered], *, losses: bool = True) -> Outcome:
    """Vote on the one question of a pool, whose responses are those `entered`, in their order.

    Without `losses` the votes do not say what their answers would lose without them, which takes most of the time.
    Where a verifier was not asked for all of them, no answer has a probability of its own: the confidence in the
    verdict is what was learned for some scores.
    """
    weights, verdict = voter.weights(pool).tolist(), voter.predict(pool)
    names = [] if pool.names is None else list(pool.names)
    codes = pool.answer.tolist()
    total, votes = answer_totals(pool, weights)
    whole = pool.asked is None
    chances = voter.answer_probabilities(pool) if whole else None
    found = response_losses(voter, pool) if chances is not None and losses else None
    likely = [None] * len(names) if chances is None else chances.of(0).tolist()
    lost = [None] * len(entered) if found is None else found.tolist()
    totals = [AnswerTotal(str(name), int(votes[k]), float(total[k]), likely[k]) for k, name in enumerate(names)]
    return Outcome(
        answer=None if verdict.code[0] < 0 else names[int(verdict.code[0])],
        confidence=None if verdict.p_correct is None else float(verdict.p_correct[0]),
        share=float(verdict.share[0]),
        margin=float(verdict.margin[0]),
        answers=sorted(totals, key=lambda one: (-one.weight, -one.votes)),
        votes=[
            Vote(one.sample, names[code], one.score, weight, loss, one.source or None, one.verifier)
            if code >= 0
            else Vote(one.sample, None, one.score, None, None, one.source or None, one.verifier)
            for one, code, weight, loss in zip(entered, codes, weights, lost, strict=True)
        ],
        none_correct=None if chances is None else float(chances.none[0]),
    )


def pool_of(rows: Sequence[Draw], *, by: str, answers: str, verified: Verified | None = None) -> Pool:
    """The samples as a table is read, in this order; one that failed is there without an answer."""
    several = any(draw.source for draw in rows)
    scores = [score_of(draw) for draw in rows]
    table = pl.DataFrame(
        {
            "question": ["asked"] * len(rows),
            "sample": [draw.sample for draw in rows],
            "response": [draw.choice.text if draw.choice else None for draw in rows],
            "finish": [draw.choice.finish if draw.choice else None for draw in rows],
            SCORE: scores,
            COPY: [None if value is None else [value] for value in scores],
        },
        schema_overrides={"response": pl.String, "finish": pl.String, SCORE: pl.Float64, COPY: pl.List(pl.Float64)},
    )
    if several:
        table = table.with_columns(pl.Series(SOURCE, [draw.source for draw in rows]))
    known = verified is not None or any(value is not None for value in scores)
    if verified is not None:
        table = table.with_columns(*verified.columns())
    return read(table, score=by if known else NO_SCORE, source=SOURCE if several else None, answers=answers)


def in_order(draws: Sequence[Draw]) -> list[Draw]:
    """The samples in the order of their numbers, those with the same number in the order of their sources."""
    return sorted(draws, key=lambda draw: (draw.sample, draw.source))


def rule_applies(voter: Method | None) -> bool:
    """Whether a plan's stopping rule ends the sampling: not where sources are weighed, which are asked at once."""
    return voter is not None and voter.stopping_ is not None and not voter.weighs_sources


def tell_rule(voter: Method | None) -> None:
    """Tell that a plan has a stopping rule, and that it does not apply."""
    if voter is not None and voter.stopping_ is not None and not rule_applies(voter):
        _warn("the plan's stopping rule is not for several upstreams that are asked at once: all samples are drawn")


def place_of(sample: int, source: str, sources: Sequence[str]) -> int:
    """The number of a sample among those of all sources, for a rule: first number 0 of each, then number 1.

    >>> [place_of(sample, source, ["a", "b"]) for sample in range(2) for source in "ab"]
    [0, 1, 2, 3]
    """
    return sample * len(sources) + sources.index(source)


class Watch:
    """Look at the samples as they come and say when the plan's stopping rule has enough; without a rule never."""

    def __init__(self, voter: Method | None, kind: str, sources: Sequence[str] = ()) -> None:
        tell_rule(voter)
        self.ballot = Ballot(voter, answers=kind) if voter and rule_applies(voter) else None
        self.kind, self.sources = kind, list(sources) or [""]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.ballot:
            self.ballot.close()

    def enough(self, draw: Draw) -> bool:
        """Count a sample; the rule goes by the samples in the order of their numbers, whoever came first."""
        if not self.ballot:
            return False
        answer = answer_of(draw, self.kind)
        return self.ballot.add(answer, score_of(draw), place_of(draw.sample, draw.source, self.sources)).stop

    def counted(self, draw: Draw) -> bool:
        """Whether a sample is among those that the rule went by; without a rule all are."""
        return self.stopped is None or place_of(draw.sample, draw.source, self.sources) < self.stopped.samples

    @property
    def stopped(self) -> Standing | None:
        """How the question stood when the rule said stop; None if it did not."""
        return self.ballot.standing if self.ballot and self.ballot.standing.stop else None


def answer_of(draw: Draw, kind: str) -> str | None:
    """The answer of a sample; None where it failed, has none, or was cut off before it marked one."""
    return extract_answer(draw.choice.text, kind, cut=is_cut(draw.choice.finish)) if draw.choice else None


def score_of(draw: Draw) -> float | None:
    """exp(mean log-probability) of a sample, None where the server gave none."""
    return probability_of(draw.choice)


def probability_of(choice: Choice | None) -> float | None:
    """exp(mean log-probability) of what a server sent, None where it gave none."""
    return None if choice is None or choice.logprob is None else min(1.0, exp(choice.logprob))


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=3)
