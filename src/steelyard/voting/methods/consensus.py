"""Consensus: every source weighs what its agreement with the others shows, without any label.

How the weights are learned: fitting/source_reliability.py. Sources that agree in error cannot be detected. Copies count
as one voter, with a warning (fitting/source_votes.py); an error that most sources share wins as it does in any vote.

Where all questions have the same few answers there are two other rules (fitting/dawid_skene.py): `one-coin`, the
log-odds of every source's reliability, and `dawid-skene`, what every source says when each answer is the correct one,

    total of answer k = log prior_k + sum over responses i of  log C_s[k, answer of i] / N_s

less the least total of all answers. Every response gets an equal part of the total of its answer as its weight; one
that is not of the closed set weighs -1, and so cannot win.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, PlanError, SettingError, SteelyardWarning, did_you_mean
from steelyard.voting.confidence.risk_control import RiskControl
from steelyard.voting.fitting.dawid_skene import Annotators, dawid_skene
from steelyard.voting.fitting.similar_sources import SourceSimilarities, above
from steelyard.voting.fitting.source_votes import modal_answers, vote_units
from steelyard.voting.methods.base.setting import setting, within
from steelyard.voting.methods.base.source_vote import (
    LARGEST,
    SourceVote,
    SourceVoters,
    consensus_of,
    ordered,
    sources_of,
)
from steelyard.voting.pools.arrays import Codes
from steelyard.voting.pools.pool import Pool

RULES = ("agreement", "one-coin", "dawid-skene")
MOST = 26  # answers of a closed set


@dataclass(repr=False, eq=False)
class ConsensusVote(SourceVote):
    """Weight each source by its agreement with the others; it needs no labels and reads none.

    >>> answers = [(0, 0 if q % 4 else 1, 0 if q % 3 else 2, 3 + q % 5) for q in range(60)]
    >>> pool = Pool.from_arrays(
    ...     question=[q for q in range(60) for _ in range(4)],
    ...     answer=[answer for row in answers for answer in row],
    ...     source=["gpt", "llama", "qwen", "dice"] * 60,
    ... )
    >>> vote = ConsensusVote().fit(pool)
    >>> vote.weights_["gpt"] > vote.weights_["qwen"] > vote.weights_["dice"]
    True
    """

    name: ClassVar[str] = "consensus"
    colour: ClassVar[str | None] = "#c3a6ee"
    votes_on_similar: ClassVar[bool] = True
    added: ClassVar[tuple[str, ...]] = ("rule", "log_priors_", "log_confusion_")

    rule: str = setting("agreement", "agreement; for a closed set of answers also one-coin and dawid-skene", RULES)

    log_priors_: dict[str, float] = field(default_factory=dict, init=False)  # by answer of the closed set
    log_confusion_: dict[str, NDArray[np.float64]] = field(default_factory=dict, init=False)  # [K * K] by source

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Give every response its part of what its source, or with `dawid-skene` its answer, is worth."""
        return self._by_answer(pool) if self.log_confusion_ else super().weigh(pool)

    def _learn(self, pool: Pool) -> None:
        pool = ordered(pool)
        sources = SourceVoters.of(pool, labels=False)
        self.log_priors_, self.log_confusion_ = {}, {}
        if pool.similarity is not None and self.rule != "agreement":
            raise SettingError(
                f"rule={self.rule} needs a closed set of answers, and these are free text: use agreement"
            )
        if pool.similarity is not None:
            agreement = SourceSimilarities.of(sources.votes(pool)).agreement()
            self._keep(sources.names, sources.voter, above(agreement))
            return
        if self.rule == "agreement":
            self._keep(sources.names, sources.voter, consensus_of(sources.votes(pool)).weights)
            return
        classes, codes = closed_set(pool, self.rule)
        answers = _as_classes(pool, modal_answers(pool, sources.code, sources.voters), codes)
        model = dawid_skene(answers, len(classes), one_coin=self.rule == "one-coin")
        self._keep(sources.names, sources.voter, np.maximum(model.log_odds(), 0.0))
        if self.rule == "dawid-skene":
            self.log_priors_ = dict(zip(classes, model.log_prior.tolist(), strict=True))
            self._keep_confusion(sources, model)

    def _keep_confusion(self, sources: SourceVoters, model: Annotators) -> None:
        """What every source says, by its name; one that never answered says what all do."""
        usual = np.log(np.exp(model.log_confusion).mean(axis=0))
        matrices = [usual if v < 0 else model.log_confusion[v] for v in sources.voter.tolist()]
        self.log_confusion_ = {name: matrix.ravel() for name, matrix in zip(sources.names, matrices, strict=True)}

    def _by_answer(self, pool: Pool) -> NDArray[np.float64]:
        """Weigh by what every source says when each answer is the correct one; a new source says what all do."""
        classes, (names, source) = list(self.log_priors_), sources_of(pool)
        size = len(classes)
        stored = np.stack([*self.log_confusion_.values()]).reshape(-1, size, size)
        usual = np.log(np.exp(stored).mean(axis=0))
        by_source = {name: stored[i] for i, name in enumerate(self.log_confusion_)}
        table = np.stack([by_source.get(name, usual) for name in names])  # [S, K, K]
        answers, voter = coded_by(pool, classes), self._voters(names)[source]
        listed = answers >= 0
        if int((pool.readable & ~listed).sum()):
            warnings.warn(
                f"{int((pool.readable & ~listed).sum()):,} answers are not among {', '.join(classes)} and cannot win",
                SteelyardWarning,
                stacklevel=4,
            )
        unit = vote_units(pool, voter, int(voter.max()) + 1)
        evidence = np.where(listed[:, None], table[source, :, np.maximum(answers, 0)] * unit[:, None], 0.0)  # [R, K]
        total = np.add.reduceat(evidence, pool.starts[:-1], axis=0) + np.array([*self.log_priors_.values()])
        total -= total.min(axis=1, keepdims=True)
        question = pool.spread(np.arange(pool.n_questions))
        cell = question * size + np.maximum(answers, 0)
        count = np.bincount(cell[listed], minlength=total.size)
        return np.where(listed, total.ravel()[cell] / np.maximum(count[cell], 1), -1.0)

    def check_settings(self) -> None:
        if self.rule not in RULES:
            raise SettingError(f"rule is {self.rule!r:.40}: {did_you_mean(self.rule, RULES)}")

    def check_learned(self) -> None:
        super().check_learned()
        stored, size = self.log_confusion_, len(self.log_priors_)
        complete = set(stored) == (set(self.weights_) if size else set()) and (size == 0 or self.rule == "dawid-skene")
        complete = complete and all(
            isinstance(matrix, np.ndarray) and len(matrix) == size**2 for matrix in stored.values()
        )
        if not complete or not all(isinstance(value, float) for value in self.log_priors_.values()):
            raise PlanError("what its sources say is damaged")
        if not within(-LARGEST, 0, *stored.values(), [*self.log_priors_.values()]):
            raise PlanError("what its sources say is damaged: a probability above 1")

    def risk_control(self, risk: float, confidence_level: float = 0.9) -> RiskControl:  # noqa: ARG002
        """Refuse: without labels its error rate is unknown."""
        column = (self.fitted_on_.source if self.fitted_on_ else None) or "COLUMN"
        raise CalibrationError(
            "consensus reads no labels, so nothing says how often it is wrong, and no risk can be controlled: label "
            f"some questions, and vote by the plan of 'steelyard fit FILE --source {column} --set reserve=0.5 -o PLAN'"
        )


def _as_classes(pool: Pool, modal: NDArray[np.int32], codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The modal answers of voters, codes within each question [Q, V], as classes of the closed set."""
    widest = int(pool.width.max())
    table = np.full((pool.n_questions, widest + 1), -1, np.int32)  # the last column: no answer
    readable = pool.readable
    table[pool.spread(np.arange(pool.n_questions))[readable], pool.answer[readable]] = codes[readable]
    return np.take_along_axis(table, np.where(modal < 0, widest, modal).astype(np.int64), axis=1)


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
    code_of = {name: k for k, name in enumerate(classes)}
    return np.array([*(code_of.get(name, -1) for name in names), -1], np.int32)[codes]


def answer_names(pool: Pool) -> tuple[list[str], Codes]:
    """The different answers of a pool as text, in order, and which of them every response gave [R]; -1 for none."""
    codes_or_0 = np.where(pool.readable, pool.answer, 0)
    if pool.names is None:
        distinct, code = np.unique(codes_or_0[pool.readable], return_inverse=True)
    else:
        named = np.asarray(pool.names)[(pool.spread(pool.base) + codes_or_0)[pool.readable]]
        distinct, code = np.unique(named, return_inverse=True)
    codes = np.full(pool.n_responses, -1, np.int32)
    codes[pool.readable] = code
    return [str(name) for name in distinct.tolist()], codes
