"""The syntax of score=: a column, a transformation to [0, 1], and a reducer of step scores.

prm   prm:min   sigmoid(prm)   sigmoid(prm):min   exp(logprob)   score/100   (score-1)/4   (score+1)/2:last   1-score
length(tokens)   1-length(response)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from steelyard.tables.computed import COMPUTED, ComputedScore

REDUCERS = {
    "last": lambda steps: steps.list.drop_nulls().list.last(),
    "min": lambda steps: steps.list.min(),
    "mean": lambda steps: steps.list.mean(),
    "prod": lambda steps: steps.list.eval(pl.element().product()).list.first(),
}
_NUMBER = r"\d+(?:\.\d+)?"
_SPELLINGS = [
    re.compile(r"(?P<flipped>1\s*-\s*)?" + pattern + r"(:(?P<reducer>[^:]*))?", re.DOTALL)
    for pattern in (
        rf"(?P<function>sigmoid|exp|{'|'.join(COMPUTED)})\((?P<column>.+?)\)",
        rf"\(\s*(?P<column>.+?)\s*(?P<shift>[+-]\s*{_NUMBER})\s*\)\s*/\s*(?P<span>{_NUMBER})",
        rf"(?P<column>.+?)\s*/\s*(?P<span>{_NUMBER})",
        r"(?P<column>.+?)",
    )
]
_PLUS = re.compile(r"\+(?![^()]*\))")  # outside parentheses


@dataclass(frozen=True)
class Score:
    """A score as the user names it: `prm`, `prm:min`, `sigmoid(prm)`, `exp(logprob)`, `score/100`, `1-score`."""

    column: str
    reducer: str | None
    function: str = ""  # "sigmoid" of logits, "exp" of log-probabilities, or one of computed/
    shift: str = ""  # "-1"
    span: str = ""  # "4"
    flipped: bool = False  # lower is better: a risk, an error, a distance

    @property
    def name(self) -> str:
        inner = f"{self.function}({self.column})" if self.function else self.column
        inner = f"({inner}{self.shift})" if self.shift else inner
        inner = f"{inner}/{self.span}" if self.span else inner
        inner = f"1-{inner}" if self.flipped else inner
        return f"{inner}:{self.reducer}" if self.reducer else inner

    @property
    def computed(self) -> ComputedScore | None:
        """How the score is computed from its column, if it needs no verifier."""
        return COMPUTED.get(self.function)

    def expression(self) -> pl.Expr:
        """Return one float per response; null if there is no score. Relative scores are yet to be standardised."""
        if self.computed is not None:
            return self.computed.expression(self.column, self.flipped)
        column = pl.col(self.column)
        if self.reducer is None:
            return self._scaled(column.cast(pl.Float64)).alias("score")
        steps = column.cast(pl.List(pl.Float64)).list.eval(pl.element().fill_nan(None))
        if self.function or self.span or self.flipped:
            steps = steps.list.eval(self._scaled(pl.element()))
        has_steps = steps.list.drop_nulls().list.len() > 0
        return pl.when(has_steps).then(REDUCERS[self.reducer](steps)).alias("score")

    def _scaled(self, value: pl.Expr) -> pl.Expr:
        if self.function == "sigmoid":
            scaled = 1.0 / (1.0 + (-value).exp())
        elif self.function == "exp":
            scaled = value.exp()
        else:
            shifted = value + float(self.shift) if self.shift else value
            scaled = shifted / float(self.span) if self.span else shifted
        return 1.0 - scaled if self.flipped else scaled


def parse_score(text: str) -> Score | None:
    """Parse a text as one score, without a table; None if it has no valid syntax.

    >>> parse_score("(judge-1)/4:min")
    Score(column='judge', reducer='min', function='', shift='-1', span='4', flipped=False)
    """
    for pattern in _SPELLINGS:
        if match := pattern.fullmatch(text):
            parts = match.groupdict()
            shift = "".join((parts.get("shift") or "").split())
            span = parts.get("span") or ""
            if not span or float(span) > 0:
                function, flipped = parts.get("function") or "", parts["flipped"] is not None
                return Score(parts["column"], parts["reducer"], function, shift, span, flipped)
    return None


def split_scores(text: str) -> list[str]:
    """Split a text at the plus signs outside parentheses.

    >>> split_scores("prm:min+(judge+1)/2")
    ['prm:min', '(judge+1)/2']
    """
    return [part.strip() for part in _PLUS.split(text)]
