"""Committee: every source weighs what the labels show it is worth beside the others; the default for several sources.

    P(answer k) = softmax_k  sum over responses i of answer k of  (weight_s + slope_s (z_i - centre_s)) / N_s

s is the source of response i, N_s its samples in the question, z_i the logit of its score, if any. The fit
(fitting/committee_fit.py) is conditional on all votes and drawn to what the sources' agreement and their accuracy
suggest. With few labels give it unlabelled responses as well, `fit(labelled, unlabelled=pool)`: then the consensus
of all questions is where it starts from. Among similar answers (fitting/similar_sources.py) scores are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError, SettingError
from steelyard.voting.confidence.correctness_model import CorrectnessBySamples
from steelyard.voting.fitting.committee_fit import (
    PENALTIES,
    ROUGH,
    better_rival,
    by_fold,
    committee_prior,
    cross_validate_committee,
    fit_committee,
    held_out_weights,
)
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.fitting.similar_sources import PENALTY as SIMILAR_PENALTY
from steelyard.voting.fitting.similar_sources import SourceSimilarities, fit_similar_sources
from steelyard.voting.fitting.solvers import Vector
from steelyard.voting.fitting.source_reliability import Consensus
from steelyard.voting.fitting.source_votes import SourceVotes
from steelyard.voting.methods.base.assessable import Assessable
from steelyard.voting.methods.base.reserve import RiskControlled, check_held_out, check_reserve
from steelyard.voting.methods.base.setting import check_folds, check_seed, setting, within
from steelyard.voting.methods.base.source_vote import (
    SourceVote,
    SourceVoters,
    consensus_of,
    ordered,
    plausible,
    score_logits,
    sources_of,
)
from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.scores import CLIP
from steelyard.voting.pools.similarity import Similarity
from steelyard.voting.pools.verdicts import Verdicts
from steelyard.voting.score_weights import check_clip
from steelyard.voting.tally import tally

ENOUGH_QUESTIONS = 2000  # to learn the confidence from
OWN = 20  # scores at which a source's own mean and spread and those of all count the same
SURE = 14.0  # log-odds beyond which nothing is learned


@dataclass(repr=False, eq=False)
class CommitteeVote(RiskControlled, SourceVote, Assessable):
    """Weight each source by what it adds to the others; the default for a pool with two or more sources.

    >>> rows = [(q, s) for q in range(60) for s in ("gpt", "llama", "dice")]
    >>> answer = [0 if s == "gpt" and q % 10 or s == "llama" and q % 3 else 1 + q % 4 for q, s in rows]
    >>> question, source = zip(*rows)
    >>> pool = Pool.from_arrays(question=question, answer=answer, source=source, correct=[a == 0 for a in answer])
    >>> vote = CommitteeVote().fit(pool)
    >>> vote.weights_["gpt"] > vote.weights_["llama"] > vote.weights_["dice"]
    True
    """

    name: ClassVar[str] = "committee"
    colour: ClassVar[str | None] = "#9b5de5"
    learns: ClassVar[bool] = True
    fits_majority: ClassVar[bool] = True
    learns_confidence: ClassVar[bool] = True
    votes_on_similar: ClassVar[bool] = True
    added: ClassVar[tuple[str, ...]] = (
        "reserve", "out_of_fold_confidence_", "out_of_fold_correct_", "reserved_confidence_", "reserved_correct_",
    )  # fmt: skip

    folds: int = setting(5, "parts of the cross-validation that chooses the penalty")
    se_tolerance: float = setting(1.0, "standard errors of likelihood that a heavier penalty may cost")
    clip: float = setting(CLIP, "minimum distance of a score from 0 and 1")
    seed: int = setting(0, "random seed of the fit")
    reserve: float = setting(0.0, "share of the questions reserved for controlling the error (vote --risk)")

    slopes_: dict[str, float] = field(default_factory=dict, init=False)  # what a logit is worth, by source
    centres_: dict[str, float] = field(default_factory=dict, init=False)  # the logit that changes nothing
    penalty_: float = field(default=np.inf, init=False)
    correctness_: NDArray[np.float64] | None = field(default=None, init=False)  # confidence/correctness_model.py

    # confidence in verdicts on other folds and on the reserved questions, and which of these are correct
    out_of_fold_confidence_: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), init=False)
    out_of_fold_correct_: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), init=False)
    reserved_confidence_: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), init=False)
    reserved_correct_: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), init=False)

    def fit(self, labelled: Pool, *, n: int | None = None, unlabelled: Pool | None = None) -> Self:
        """Learn from a labelled pool, and from who agrees with whom in an unlabelled one, if there is one.

        The unlabelled pool may hold the labelled questions too. With few labels it is worth a lot.
        """
        vars(self)["unlabelled"] = unlabelled if unlabelled is None or n is None else unlabelled.first(n)
        try:
            return super().fit(labelled, n=n)
        finally:
            vars(self).pop("unlabelled", None)

    def without_confidence(self) -> Self:
        """A new one that does not learn how sure its verdicts are: half of a fit, where only verdicts are compared."""
        quick = type(self)(**self.settings())
        vars(quick)["learns_confidence"] = False
        return quick

    def reads_scores(self) -> bool:
        return any(self.slopes_.values())

    def uses_scores(self, pool: Pool) -> Bools:
        names, source = sources_of(pool)
        return np.array([self.slopes_.get(name, 0.0) > 0 for name in names])[source]

    def _by_score(self, pool: Pool, names: tuple[str, ...], source: Codes) -> NDArray[np.float64]:
        if not self.reads_scores() or pool.scores is None:
            return np.empty(0)
        slope, centre = (
            np.array([values.get(name, 0.0) for name in names])[source] for values in (self.slopes_, self.centres_)
        )
        z = score_logits(pool, self.clip)
        return np.where(np.isnan(z), 0.0, slope * (z - centre))

    def _learn(self, pool: Pool) -> None:
        pool = cast(LabelledPool, ordered(pool))
        sources = SourceVoters.of(pool, labels=True)
        z, centre, spread = _standardised(pool, sources, self.clip)
        votes = sources.votes(pool, z)
        fold = fold_of(pool, self.folds, self.seed)
        few = np.flatnonzero(fold_of(pool, -(-pool.n_questions // ENOUGH_QUESTIONS), self.seed) == 0)
        some, its_fold = votes.take(few), fold[few]
        if pool.similarity is None:
            consensus, unlabelled = self._consensus(pool, sources, votes)
            self.penalty_ = cross_validate_committee(votes, consensus, unlabelled, fold, self.se_tolerance)
            theta = fit_committee(votes, committee_prior(votes, consensus, unlabelled), self.penalty_)
            thetas = self._by_fold(some, its_fold, consensus, unlabelled)
        else:
            agreement = SourceSimilarities.of(self._all_votes(pool, sources, votes)).agreement()
            self.penalty_, theta = SIMILAR_PENALTY, fit_similar_sources(votes, agreement)
            thetas = by_fold(some, its_fold, partial(fit_similar_sources, agreement=agreement, tolerance=ROUGH))
        rival = better_rival(some, its_fold, thetas)
        if rival is not None:
            theta, thetas = rival(votes), by_fold(some, its_fold, rival)
        self._keep(sources.names, sources.voter, theta[: votes.voters])
        beta = theta[votes.voters :] if votes.size > votes.voters else np.zeros(votes.voters)
        self._keep_slopes(sources, beta / spread, centre, _scored_sources(pool))
        if self.learns_confidence:
            self._learn_confidence(some, its_fold, thetas)
        self.gains_ = {}

    def _consensus(self, pool: LabelledPool, sources: SourceVoters, votes: SourceVotes) -> tuple[Consensus, int]:
        """The consensus of the sources, and the number of unlabelled questions it was learned from."""
        every = self._all_votes(pool, sources, votes)
        return consensus_of(every), every.pool.n_questions - pool.n_questions

    def _all_votes(self, pool: LabelledPool, sources: SourceVoters, votes: SourceVotes) -> SourceVotes:
        """The votes of the labelled questions, and of the unlabelled ones if there are any."""
        unlabelled: Pool | None = vars(self).get("unlabelled")
        if unlabelled is not None and (unlabelled.similarity is None) != (pool.similarity is None):
            raise SettingError("only one of the labelled and unlabelled files is free text: read both as the same kind")
        return votes if unlabelled is None else _others(pool, sources, unlabelled)

    def _keep_slopes(
        self, sources: SourceVoters, slope: NDArray[np.float64], centre: NDArray[np.float64], scored: set[str]
    ) -> None:
        """Store what the scores of each source are worth; of one without any score nothing was learned."""
        pairs = list(zip(sources.names, sources.voter.tolist(), strict=True))
        self.slopes_ = {name: float(slope[v]) if v >= 0 and name in scored else 0.0 for name, v in pairs}
        self.centres_ = {name: float(centre[v]) if v >= 0 else 0.0 for name, v in pairs}

    def _by_fold(self, votes: SourceVotes, fold: Ints, consensus: Consensus, unlabelled: int) -> list[Vector]:
        """The coefficients learned without each fold."""

        def fit(seen: SourceVotes) -> Vector:
            return fit_committee(seen, committee_prior(seen, consensus, unlabelled), self.penalty_, tolerance=ROUGH)

        return by_fold(votes, fold, fit)

    def _learn_confidence(self, some: SourceVotes, fold: Ints, thetas: Sequence[Vector]) -> None:
        """Learn how likely a verdict is correct, on folds that the weights were not fitted on.

        After k samples: those of k of the N responses of a question, drawn at random, so that any part of the
        committee may be asked first.
        """
        weights = held_out_weights(some, fold, thetas)
        weighted = cast(LabelledPool, replace(some.pool, parts=weights[:, None]))
        drawn = weighted.shuffled(1, np.random.default_rng(self.seed))

        def verdicts(part: LabelledPool, which: Ints) -> tuple[NDArray[np.float64], NDArray[np.float64], Bools]:  # noqa: ARG001
            decided = tally(part, cast(NDArray[np.float64], part.parts)[:, 0])
            answered = decided.code >= 0
            odds, f = _evidence(decided)
            return odds[answered], f[answered], decided.correct(part)[answered]

        by_samples, decided = CorrectnessBySamples.learn(drawn, verdicts), tally(weighted, weights)
        self.correctness_ = by_samples.values
        self.out_of_fold_confidence_ = _p_correct(by_samples, decided)
        self.out_of_fold_correct_ = decided.correct(weighted).astype(np.float64)

    def _p_correct(self, verdicts: Verdicts) -> NDArray[np.float64] | None:
        return None if self.correctness_ is None else _p_correct(CorrectnessBySamples.of(self.correctness_), verdicts)

    def described(self) -> str:
        named = sorted(((weight, name) for name, weight in self.weights_.items()), reverse=True)
        if len({weight for weight, _ in named}) == 1:
            return "the labels do not tell the sources apart, so each has one vote"
        silent = sum(weight == 0 for weight, _ in named)
        quiet = f", and {silent} of {len(named)} add nothing to the others" if silent else ""
        against = sum(weight < 0 for weight, _ in named)
        return f"{named[0][1]} weighs most{quiet}{f', and {against} count against their answers' if against else ''}"

    def check_settings(self) -> None:
        check_clip(self.clip)
        check_folds(self.folds, self.se_tolerance)
        check_seed(self.seed)
        check_reserve(self.reserve)

    def check_learned(self) -> None:
        super().check_learned()
        names = set(self.weights_)
        if not names or not plausible(self.centres_, names) or not plausible(self.slopes_, names):
            raise PlanError("its scores by source are damaged")
        if self.penalty_ not in (*PENALTIES, SIMILAR_PENALTY) or not all(
            isinstance(gain, float) for gain in self.gains_.values()
        ):
            raise PlanError("its penalty, or what it gained, is damaged")
        if not within(0, np.inf, list(self.slopes_.values())):
            raise PlanError("its slopes are damaged: none is below 0")
        CorrectnessBySamples.of(self.correctness_)
        check_held_out(*self._held_out())


def _p_correct(by_samples: CorrectnessBySamples, verdicts: Verdicts) -> NDArray[np.float64]:
    """The probability that each verdict is correct [Q]; 0 where there is none."""
    p, _ = by_samples.parts_from(*_evidence(verdicts), verdicts.pool.sizes)
    return np.where(verdicts.code >= 0, p, 0.0)


def _evidence(verdicts: Verdicts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lead of every verdict in log-odds [Q], and its weight and the log of the number of answers [Q, 2]."""
    answers = np.log(np.maximum(verdicts.pool.m, 1))
    return np.clip(verdicts.margin, -SURE, SURE), np.stack((np.clip(verdicts.total, -SURE, SURE), answers), axis=1)


def _standardised(
    pool: Pool, sources: SourceVoters, clip: float
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64], NDArray[np.float64]]:
    """Scores as each voter spreads them [R], 0 = none, and mean and spread of each voter's logits [V]."""
    voters = sources.voters
    is_scored = None if pool.scores is None else ~np.isnan(pool.scores) & pool.readable
    if is_scored is None or not is_scored.any() or pool.similarity is not None:
        return None, np.zeros(voters), np.ones(voters)
    z = score_logits(pool, clip)
    everywhere, overall = float(z[is_scored].mean()), float(z[is_scored].std())
    code, at = sources.code[is_scored], z[is_scored]
    count = np.bincount(code, minlength=voters)
    centre = (np.bincount(code, at, voters) + OWN * everywhere) / (count + OWN)
    square = np.bincount(code, (at - centre[code]) ** 2, voters)
    spread = np.maximum(np.sqrt((square + OWN * overall**2) / (count + OWN)), 0.1)
    voter = np.maximum(sources.code, 0)
    return np.where(np.isnan(z), 0.0, (z - centre[voter]) / spread[voter]), centre, spread


def _scored_sources(pool: Pool) -> set[str]:
    """The sources with a score of any readable response."""
    if pool.scores is None:
        return set()
    names, source = sources_of(pool)
    return {names[s] for s in np.unique(source[~np.isnan(pool.scores) & pool.readable]).tolist()}


def _others(pool: LabelledPool, sources: SourceVoters, unlabelled: Pool) -> SourceVotes:
    """The votes of the labelled questions and of the others, the voters as they are in the labelled ones."""
    new = ~np.isin(np.asarray(unlabelled.questions), np.asarray(pool.questions))
    rest = ordered(unlabelled.take(np.flatnonzero(new))) if new.any() else None
    if rest is None:
        return sources.votes(pool)
    names, source = sources_of(rest)
    voter = dict(zip(sources.names, sources.voter.tolist(), strict=True))
    codes = np.array([voter.get(name, -1) for name in names], np.int32)[source]
    width = np.concatenate((pool.width, rest.width))
    together = Pool(
        starts=np.concatenate((pool.starts, pool.starts[-1] + rest.starts[1:])),
        answer=np.concatenate((pool.answer, rest.answer)),
        scores=None,
        base=np.cumsum(width) - width,
        width=width,
        questions=np.arange(len(width)),
        similarity=pool.similarity and rest.similarity and Similarity.join([pool.similarity, rest.similarity]),
    )
    return SourceVotes.of(together, np.concatenate((sources.code, codes)), sources.voters)
