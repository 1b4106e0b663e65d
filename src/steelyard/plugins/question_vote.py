"""A vote on the epochs of one question, as a tool hands them over: texts, and numbers by name.

The epochs become a table, which is read and voted on like any other, so a reducer decides as `vote` would.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers.auto_kind import choose_kind
from steelyard.answers.extract import AUTO, kind_of
from steelyard.answers.kind import SHORT, Kind
from steelyard.answers.kind_choice import DEFAULT, Evidence
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import ColumnError, PlanError, SettingError, SteelyardWarning
from steelyard.sampling.ask.sample_votes import Entered, Outcome, outcome_of
from steelyard.tables import pools_of
from steelyard.tables.plan_reading import answers_of_plan
from steelyard.tables.pools_from_frames import join
from steelyard.tables.score_columns import NO_SCORE, same_scores
from steelyard.tables.vote import voter_of
from steelyard.voting.methods.base.method import Method

Numbers = Mapping[str, float | Sequence[float] | None]  # the scores of one epoch by name; step scores are a list
_NAMED = re.compile(r"\\(?:begin|end|text|mathrm|textbf|operatorname)\s?\{[^{}]*+\}")
_WORD = re.compile(
    r"(?<![\\A-Za-z])(?!(?:sin|cos|tan|log|exp|sqrt)\b)[A-Za-z]{3,}|\b(?:an|as|be|he|if|in|is|it|no|of|or|so|to|we)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QuestionVote:
    """Decides one question at a time, by a plan or by a method that needs none; without either by majority vote."""

    voter: Method
    score: str  # as `vote` spells it; NO_SCORE: none
    answers: str  # the kind, or auto: decided by the answers of each question

    @classmethod
    def of(cls, plan: str | Path | Method | None, method: str | None, score: str | None, answers: str) -> QuestionVote:
        """Load the plan and check the settings, before anything is sampled."""
        voter = voter_of(plan, method)
        fitted = voter.fitted_on_
        trained = fitted.score if fitted else None
        if voter.weighs_sources:
            raise SettingError(f"{voter.name} weighs several LLMs, and epochs are of one: use another method")
        if score and trained and voter.reads_scores() and not same_scores(score, trained):
            raise PlanError(f"the plan was fitted on the score {trained!r}, not on {score!r}: leave out score=")
        chosen = score or (trained if voter.reads_scores() else None)
        if chosen is None and voter.reads_scores():
            raise SettingError(f"{voter.name} needs a score: name it, as in score='prm'")
        return cls(voter, chosen or NO_SCORE, answers_of_plan(voter, answers))

    def decide(self, texts: Sequence[str | None], numbers: Sequence[Numbers]) -> Outcome:
        """Vote on the epochs of one question, in their order; a text of None casts no vote."""
        kind = self.kind_of_question(texts)
        frame = self._table([None if text is None else answer_in(text, kind) for text in texts], numbers)
        with warnings.catch_warnings():  # about single questions: `steelyard vote` on the log has those about all
            warnings.simplefilter("ignore", SteelyardWarning)
            reader, needed = AnswerReader(kind.name), self.voter.reads_scores()
            options: dict[str, Any] = {"score": self.score, "answers": reader, "need_score": needed, "labels": None}
            with closing(pools_of(frame, **options)) as pools:
                pool = join(list(pools))
            scores = [math.nan] * len(texts) if pool.scores is None else pool.scores.tolist()
            entered = [Entered(i, "", None if math.isnan(score) else score) for i, score in enumerate(scores)]
            return outcome_of(pool, self.voter, entered, losses=False)

    def kind_of_question(self, texts: Sequence[str | None]) -> Kind:
        """The kind of answers: the one named, the plan's, or what the answers to this question look like."""
        if self.answers != AUTO:
            return kind_of(self.answers)
        readable = [text for text in texts if text is not None]
        return kind_of(choose_kind(Evidence([], responses=lambda: readable)).kind)

    def _table(self, answers: Sequence[str | None], numbers: Sequence[Numbers]) -> pl.DataFrame:
        table = pl.DataFrame(
            {"question": ["question"] * len(answers), "sample": range(len(answers)), "answer": answers},
            schema_overrides={"answer": pl.String},
        )
        if self.score == NO_SCORE:
            return table
        names = dict.fromkeys(name for epoch in numbers for name in epoch)
        columns = [
            pl.Series(alias, [epoch.get(name) for epoch in numbers], strict=False)
            for name in names
            for alias in self._aliases(name)
        ]
        if not columns:
            listed = f": it has {', '.join(names)}" if names else ""
            raise ColumnError(
                f"the vote reads the score {self.score!r}, which the scorer's value does not have{listed}; return "
                "Score(value={'correct': .., 'prm': ..}, answer=..) with the score by name (docs/plugins.md)"
            )
        return table.with_columns(*columns)

    def uses(self, name: str) -> bool:
        """Whether the vote reads the number of this name."""
        return bool(self._aliases(name))

    def _aliases(self, name: str) -> list[str]:
        """The names by which the score refers to a number: its own, or SCORER.NAME as in the table of a log."""
        pattern = rf"(?<![\w.])(?:[\w/-]+\.)?{re.escape(name)}(?![\w.])"
        return list(dict.fromkeys(re.findall(pattern, self.score)))


def answer_in(text: str, kind: Kind) -> str | None:
    r"""The answer in the text of a scorer, which is a response in full or the answer alone.

    >>> [answer_in(text, kind_of("math")) for text in (r"\frac{1}{2}", "So it is 12 apples.", "I am not sure.")]
    ['\\frac{1}{2}', '12', None]
    """
    if kind.name == "exact":
        return text
    stripped = text.strip()
    maths = kind.name == DEFAULT and len(stripped) <= SHORT and "\n" not in stripped
    if maths and not _WORD.search(_NAMED.sub("", stripped)) and "boxed" not in stripped:
        return stripped.strip("$") or None
    return kind.extract(text).answer
