"""A grid: language models judged by verifiers on the same questions, a pool per pair; and how much of it is measured.

A folder holds one file per language model (`LLM.parquet`, a score column per verifier) or one per pair
(`LLM--VERIFIER.parquet`), in any format `steelyard.read` knows; a column `llm` overrules the file's name. Verifiers
whose name begins with `self` are the model's own judgement. What is wrong with a part of the grid is reported in a
sentence and the rest is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.random_subsets import Progress, no_progress
from steelyard.foundation.errors import SteelyardError, TableError
from steelyard.voting.fitting.score_quality import auroc_within
from steelyard.voting.pools.pool import LabelledPool, Pool

FEWEST = 60  # questions: 12 to calibrate on, 36 to test on
RESERVE = 0.4  # of the questions are for calibration, as in the paper: 200 of MATH500's 500
DRAWN = 0.5  # of those are drawn for a run: 100
Names = NDArray[np.str_]
Item = TypeVar("Item")
Row = TypeVar("Row")


@dataclass(frozen=True)
class Settings:
    """One seed, and how often things are repeated; `progress` is called with the share that is done."""

    seed: int = 0
    runs: int = 3  # calibration sets drawn, the paper's three seeds
    resamples: int = 100  # random subsets of n samples
    again: int = 5  # the same for methods that must vote again on every subset
    quick: bool = False
    progress: Progress = field(default=no_progress, compare=False, repr=False)

    @staticmethod
    def quickly(seed: int = 0) -> Settings:
        """What finishes in under a minute."""
        return Settings(seed, runs=2, resamples=20, again=1, quick=True)

    def with_progress(self, items: Sequence[Item]) -> Iterator[Item]:
        """Go through the items of an experiment and report the progress."""
        for done, item in enumerate(items):
            self.progress(done / len(items))
            yield item
        self.progress(1.0)


@dataclass(frozen=True, eq=False)
class Pair:
    """One language model judged by one verifier."""

    llm: str
    verifier: str
    pool: LabelledPool
    domains: Names | None = None  # [Q]

    @property
    def own(self) -> bool:
        """Whether the model judged itself."""
        return self.verifier.startswith("self")

    @cached_property
    def auroc(self) -> float:
        """How well scores tell correct from incorrect responses within a question."""
        return auroc_within(self.pool)


@dataclass(frozen=True, eq=False)
class Grid:
    """The pairs there are, and what is wrong with the others."""

    pairs: list[Pair]
    problems: list[str] = field(default_factory=list)
    memory: dict[object, object] = field(default_factory=dict, repr=False)  # what experiments share

    @staticmethod
    def of(pools: dict[tuple[str, str], tuple[Pool, Names | None]], problems: list[str] | None = None) -> Grid:
        """Keep the pairs that can be measured, all at the same N."""
        messages = list(problems or [])
        faults: dict[str, list[str]] = {}
        pairs = []
        for (llm, verifier), (pool, domains) in pools.items():
            fault = _fault(pool)
            if fault:
                faults.setdefault(fault, []).append(f"{llm} with {verifier}")
            elif isinstance(pool, LabelledPool):
                pairs.append(Pair(llm, verifier, pool, domains))
        messages += [f"{fault}: left out are {_few(names)}." for fault, names in faults.items()]
        messages += _ragged(pairs)
        messages += [*_missing(pairs), *_questions(pairs), *_domains(pairs)]
        if not pairs:
            raise TableError(f"there is no pair to measure: {' '.join(messages) or 'the grid is empty'}")
        return Grid(_even(pairs, messages), messages)

    @property
    def n(self) -> int:
        """Samples a question."""
        return self.pairs[0].pool.n

    @property
    def prm(self) -> list[Pair]:
        """The pairs with a verifier of its own, the paper's 35."""
        pairs = [pair for pair in self.pairs if not pair.own]
        if not pairs:
            raise TableError("there is no verifier but the models themselves: add a column of scores")
        return pairs

    @property
    def leading(self) -> list[Pair]:
        """For every language model the verifier that discriminates best within its questions."""
        best: dict[str, Pair] = {}
        for pair in self.prm:
            if pair.llm not in best or pair.auroc > best[pair.llm].auroc:
                best[pair.llm] = pair
        return list(best.values())

    @property
    def key(self) -> str:
        """A hash of everything that is measured."""
        digest = sha256()
        for pair in self.pairs:
            pool = pair.pool
            digest.update(f"{pair.llm}\0{pair.verifier}\0{list(map(str, pool.questions))}".encode())
            digest.update(b"" if pair.domains is None else "\0".join(pair.domains).encode())
            for array in (pool.starts, pool.answer, pool.known_scores, pool.correct):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def collect(self, settings: Settings, items: Sequence[Item], measure: Callable[[Item], list[Row]]) -> list[Row]:
        """Measure item by item, a pair or a pair and a domain; one that cannot be measured is reported and left out."""
        rows: list[Row] = []
        failed: list[str] = []
        for item in settings.with_progress(items):
            try:
                rows += measure(item)
            except SteelyardError as error:
                failed.append(f"{_name(item)} cannot be measured and is left out: {error}")
        self.problems.extend(problem for problem in failed if problem not in self.problems)
        if not rows:
            raise TableError(f"nothing could be measured: {failed[0] if failed else 'there is no such pair'}")
        return rows

    def shared(self, key: object, make: Callable[[], object]) -> object:
        """Measure once what several experiments read."""
        if key not in self.memory:
            self.memory[key] = make()
        return self.memory[key]


def _fault(pool: Pool) -> str | None:
    """Why a pair cannot be measured."""
    if not isinstance(pool, LabelledPool):
        return "No labels (a column 'correct' or 'gold')"
    if pool.scores is None or np.isnan(pool.scores).all():
        return "No scores"
    if pool.n_questions < FEWEST:
        return f"Fewer than {FEWEST} questions"
    if not 0 < pool.correct.sum() < pool.n_responses:
        return "Responses of one kind only, all right or all wrong"
    return None


def _ragged(pairs: list[Pair]) -> list[str]:
    names = [f"{pair.llm} with {pair.verifier}" for pair in pairs if pair.pool.sizes.min() < pair.pool.n]
    few = "some questions have fewer samples than others and vote with what they have"
    return [f"Unequal sample counts within {_few(names)}: {few}."] if names else []


def _even(pairs: list[Pair], messages: list[str]) -> list[Pair]:
    """Cut all pairs to the N of the smallest."""
    n = min(pair.pool.n for pair in pairs)
    larger = [f"{pair.llm} with {pair.verifier}" for pair in pairs if pair.pool.n > n]
    if larger:
        messages.append(f"Sample counts are unequal between pairs: {_few(larger)} are cut to the first {n} samples.")
    return [Pair(p.llm, p.verifier, p.pool.first(n), p.domains) for p in pairs]


def _missing(pairs: list[Pair]) -> list[str]:
    present = {(pair.llm, pair.verifier) for pair in pairs}
    verifiers = dict.fromkeys(pair.verifier for pair in pairs)
    llms = dict.fromkeys(pair.llm for pair in pairs)
    missing = [f"{llm} with {verifier}" for llm in llms for verifier in verifiers if (llm, verifier) not in present]
    return [f"The grid has no pair {_few(missing)}: averages are over the pairs there are."] if missing else []


def _questions(pairs: list[Pair]) -> list[str]:
    """Say where two verifiers of a language model saw different questions."""
    messages = []
    for llm in dict.fromkeys(pair.llm for pair in pairs):
        questions_of = {pair.verifier: frozenset(map(str, pair.pool.questions)) for pair in pairs if pair.llm == llm}
        usual = Counter(questions_of.values()).most_common(1)[0][0]
        odd = [verifier for verifier, questions in questions_of.items() if questions != usual]
        if odd:
            messages.append(
                f"The verifiers of {llm} judged different questions: {_few(odd)} not the {len(usual)} of the others; "
                "each pair is measured on its own questions."
            )
    return messages


def _domains(pairs: list[Pair]) -> list[str]:
    bare = [f"{pair.llm} with {pair.verifier}" for pair in pairs if pair.domains is None]
    return [f"No column 'domain' for {_few(bare)}: left out of the tables by domain."] if bare else []


def _name(item: object) -> str:
    """A pair, or a pair and what of it."""
    parts = item if isinstance(item, tuple) else (item,)
    return ", ".join(f"{part.llm} with {part.verifier}" if isinstance(part, Pair) else str(part) for part in parts)


def _few(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
