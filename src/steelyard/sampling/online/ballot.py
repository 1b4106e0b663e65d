"""One question, sample by sample: the verdict so far, and whether to stop.

A ballot is the batch vote in small steps: after k samples its verdict is, to the last bit, that of `predict` on a table
with those k rows. Samples may arrive in any order; only the longest complete sequence 0, 1, 2, .. counts, so neither
the verdict nor the stop depends on the order of arrival.

With a plan that has a cascade (`plan-budget --price`) a ballot names the sources to ask next, in `BallotState.next`,
and counts the answers in the order of the cascade; an answer of another source counts only once its turn comes.
"""

from __future__ import annotations

from math import isnan
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import ColumnError, ScoreError, SettingError
from steelyard.foundation.surrogates import is_encodable
from steelyard.sampling.online.cascade_walk import BallotState, CascadeWalk, Entry, check_cascade
from steelyard.sampling.online.entry_pool import EntryPool
from steelyard.sampling.online.similar_texts import SimilarTexts
from steelyard.tables.plan_reading import answers_of_plan
from steelyard.voting.confidence.drift import unusual
from steelyard.voting.methods import load
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.source_vote import SourceVote
from steelyard.voting.pools.notebook import html_facts
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.stopping_rule import Rule, prefix_of

if TYPE_CHECKING:
    import altair as alt

NOTHING = BallotState(None, None, 0.0, 0.0, 0, 0, False, "waiting for sample 0")


class Ballot:
    """Counts the answers of one question as they arrive, by a plan (a path) or a method.

    >>> from steelyard import MajorityVote
    >>> ballot = Ballot(MajorityVote(), answers="math")
    >>> ballot.add("1/2").verdict, ballot.add("7").verdict, ballot.add("0.5").votes
    ('1/2', '1/2', 2)

    `rule` overrides the plan's stopping rule; without either a ballot never stops. Answers are texts as in a table,
    None for an unreadable one (`extract_answer` reads them out of responses), and are grouped as `read` groups them:
    `answers` is the kind (auto: the plan's, else math), or an AnswerReader that several ballots share. Free text is
    compared without the words of the `prompt`. Close a ballot without such a reader (or use `with`): comparing symbolic
    answers may have started worker processes.
    """

    def __init__(
        self,
        plan: Method | str | Path,
        *,
        rule: Rule | None = None,
        answers: str | AnswerReader = AUTO,
        prompt: str | SimilarTexts | None = None,
    ) -> None:
        self.method = plan if isinstance(plan, Method) else load(plan)
        if self.method.oracle:
            raise SettingError(f"{self.method.name} is an oracle: it reads labels, and a ballot has none")
        self.rule = rule or self.method.stopping_
        self.state = NOTHING
        self._owns_reader = isinstance(answers, str)
        self._reader = AnswerReader(answers_of_plan(self.method, answers)) if isinstance(answers, str) else answers
        self._entries: dict[int, Entry] = {}
        self._pools = EntryPool(self.method, self._reader, prompt)
        self._cascade = None if rule else self.method.cascade_
        if self._cascade:
            check_cascade(self._reader.kind)
            self._walk = CascadeWalk(self._cascade)
            self._follow()
            return
        source = next(iter(self._sources), "") or None
        self.method.check_pool(self._pools.pool([(None, None, source)]))  # refuse a method that cannot vote now

    @property
    def _sources(self) -> tuple[str, ...]:
        """The sources that the method knows."""
        return tuple(self.method.weights_) if isinstance(self.method, SourceVote) else ()

    @property
    def verdict(self) -> str | None:
        """The answer so far; None while none was readable."""
        return self.state.verdict

    @property
    def pool(self) -> Pool:
        """The samples counted so far, as `read` would give them."""
        return self._pools.pool([self._entries[i] for i in range(self.state.samples)])

    @property
    def warning(self) -> str | None:
        """A sentence if the scores so far do not look like those that the plan was fitted on, else None."""
        fitted = self.method.fitted_on_
        if not fitted or not fitted.reference_scores or not self.state.samples:
            return None
        return unusual(fitted.reference_scores, self.pool)

    def add(
        self, answer: str | None, score: float | None = None, sample: int | None = None, source: str | None = None
    ) -> BallotState:
        """Count a sample and return the state of the question.

        `score` is in [0, 1]; None: no score. `sample` is its number, 0, 1, 2, ..; by default the next after the highest
        so far. A number that is added again with the same content changes nothing, nor does a sample after the stop.
        `source` is the source of the answer, for a method that weighs sources; with a cascade the samples of every
        source are numbered separately, and an answer of None means that the source gave none.
        """
        entry = _answer(answer), _score(score), _source(source)
        if self._cascade:
            self._walk.add(entry, None if sample is None else _number(sample), self._sources)
            self._follow()
            return self.state
        number = max(self._entries, default=-1) + 1 if sample is None else _number(sample)
        if self._entries.setdefault(number, entry) != entry:
            raise SettingError(
                f"sample {number} was added twice, as {_shown(self._entries[number])} and as {_shown(entry)}: "
                "give every sample a number of its own"
            )
        while not self.state.stop and self.state.samples in self._entries:
            self._count(self.state.samples + 1)
        return self.state

    def plot(self) -> alt.LayerChart:
        """Draw the answers so far, best first, by probability or weight; needs `pip install 'steelyard[report]'`.

        >>> from steelyard import VanillaVote
        >>> ballot = Ballot(VanillaVote())
        >>> for answer, score in [("7", 0.9), ("8", 0.2), ("8", 0.3)]:
        ...     state = ballot.add(answer, score)
        >>> ballot.plot().title.subtitle
        'verdict 7 after 3 samples'
        """
        from steelyard.sampling.online.ballot_chart import plot_answers

        state = self.state
        if self._cascade:
            raise SettingError("a ballot by a cascade has no picture: print its state, or give a plan without prices")
        if state.verdict is None:
            raise SettingError("no answer is readable so far: add a sample with an answer first")
        samples = f"{state.samples} sample{'s' * (state.samples != 1)}"
        confidence = "" if state.confidence is None else f", confidence {100 * state.confidence:.1f} %"
        return plot_answers(
            self.method, self.pool, subtitle=f"verdict {state.verdict!s:.60} after {samples}{confidence}"
        )

    def close(self) -> None:
        """Stop the worker processes, if any were needed; a shared reader is left alone."""
        if self._owns_reader:
            self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ballot({self.method!r}, samples {self.state.samples}, verdict {self.state.verdict!r})"

    def _repr_html_(self) -> str:
        return html_facts(f"Ballot by {self.method!r}", vars(self.state))

    def _follow(self) -> None:
        """Follow the cascade as far as the answers so far allow."""
        while self._walk.ready:
            entries = self._walk.take_step()
            self._pools.group(entries)
            self._walk.look([self._pools.codes[text] for text, _, _ in entries])
        self.state = self._walk.state(self._pools.names)

    def _count(self, samples: int) -> None:
        entries = [self._entries[i] for i in range(samples)]
        self._pools.group(entries)
        verdicts = self.method.predict(self._pools.pool(entries))
        code = int(verdicts.code[0])
        step = prefix_of(verdicts)
        self.state = BallotState(
            verdict=None if code < 0 else self._pools.names[code],
            confidence=None if verdicts.p_correct is None else float(verdicts.p_correct[0]),
            share=float(verdicts.share[0]),
            margin=float(verdicts.margin[0]),
            votes=int(verdicts.votes[0]),
            samples=samples,
            stop=self.rule is not None and bool(self.rule.ready(step)[0, 0]),
            why=self.rule.why(step) if self.rule else "no stopping rule: you decide when to stop",
        )


def _answer(answer: object) -> str | None:
    if answer is None:
        return None
    if isinstance(answer, str):
        if is_encodable(answer):
            return answer
        raise ColumnError("the answer contains a lone surrogate: decode it with errors='replace'")
    raise ColumnError(f"the answer is {type(answer).__name__}, not text: give a str, or None for an unreadable one")


def _score(score: object) -> float | None:
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, Real):
        raise ScoreError(f"the score is {type(score).__name__}, not a number: give one in [0, 1], or None for no score")
    value = float(score)
    if isnan(value):
        raise ScoreError("the score is NaN: give a number in [0, 1], or None for no score")
    if not 0 <= value <= 1:
        raise ScoreError(f"the score is {value:.9g}, outside [0, 1]: if it is a logit, give 1 / (1 + exp(-score))")
    return value


def _number(sample: object) -> int:
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 0:
        raise SettingError(f"sample is {sample!r:.40}: number the samples of a question 0, 1, 2, ..")
    return int(sample)


def _source(source: object) -> str | None:
    if source is None or (isinstance(source, str) and source.strip()):
        return source
    raise ColumnError(f"the source is {source!r:.40}: give the name of the source as text")


def _shown(entry: Entry) -> str:
    answer, score, source = entry
    by = f" by {source}" if source else ""
    return f"{answer!r:.40}{by} with {'no score' if score is None else f'score {score:g}'}"
