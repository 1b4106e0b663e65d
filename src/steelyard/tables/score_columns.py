"""The score columns of a table, and the choice of one score or several: `prm`, `prm:min+self`, `prm:*`, `prm_*`.

`+` combines several scores, `prm:*` is every reducer of a step column, and `prm_*` every column whose name matches
(score_patterns.py). A column with exactly this name takes precedence, so a name that contains a plus or a star still
means that column.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, ScoreError, SteelyardNote, SteelyardWarning, did_you_mean
from steelyard.tables.columns import KNOWN
from steelyard.tables.computed import COMPUTED
from steelyard.tables.computed.token_scores import TOKEN_LISTS
from steelyard.tables.computed_choice import computed_score
from steelyard.tables.names import EMBEDDINGS, INVERTED, NO_SCORES, SCORE_LIKE, SCORES, key
from steelyard.tables.score_patterns import covered, expand_pattern
from steelyard.tables.score_spelling import REDUCERS, Score, parse_score, split_scores
from steelyard.voting.pools.scores import ScoreRangeError, outside

EVERY = "*"
NO_SCORE = "none"
RECORDED = "self_logprob"  # recorded by every run, unlike the scores of verifiers


class NoStepsError(ColumnError):
    """A column contains one number per response where step scores were requested."""


@dataclass(frozen=True)
class Scores:
    """The scores to read: none, one, or the parts of a mix in the order of their names."""

    parts: tuple[Score, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)

    @property
    def name(self) -> str | None:
        return "+".join(self.names) or None

    @property
    def relative(self) -> tuple[str, ...]:
        """The names of those that are standardised within each question."""
        return tuple(part.name for part in self.parts if part.computed and part.computed.relative)

    @property
    def undirected(self) -> tuple[str, ...]:
        """The names of those whose direction is neither known nor named by the user."""
        parts = [part for part in self.parts if part.computed and part.computed.undirected]
        return tuple(part.name for part in parts if not part.flipped)

    def expressions(self) -> list[pl.Expr]:
        """Return one column per part; a single score is called `score`."""
        if len(self.parts) == 1:
            return [self.parts[0].expression()]
        return [part.expression().alias(f"score {i}") for i, part in enumerate(self.parts)]


def choose_scores(schema: pl.Schema, requested: str | Sequence[str] | None, needed: bool = True) -> Scores:
    """Resolve the requested scores, one text or a list of them, against the columns of a table.

    >>> schema = pl.Schema({"prm": pl.List(pl.Float64), "self": pl.Float64})
    >>> choose_scores(schema, "self+prm:*").name, choose_scores(schema, "self+prm").name
    ('prm:last+prm:mean+prm:min+prm:prod+self', 'prm:last+self')

    A list names verifiers, and a step column in it counts with every reducer unless it names one.

    >>> choose_scores(schema, ["self", "prm"]).name, choose_scores(schema, ["self", "prm:min"]).name
    ('prm:last+prm:mean+prm:min+prm:prod+self', 'prm:min+self')
    """
    texts = [requested] if isinstance(requested, str) else list(requested or ())
    if requested is not None and not all(isinstance(text, str) for text in texts):
        raise ColumnError(f"score is {requested!r:.60}: give the name of a column, or a list of names")
    several = len(texts) > 1
    names = [name for text in texts if text or several for name in _score_names(schema, text, every=several)]
    requested = score_text(texts) if texts else None
    if len(names) < 2:
        chosen = choose_score(schema, names[0] if names else requested, needed)
        return Scores((chosen,) if chosen else ())
    if "" in names:
        raise ColumnError(f"a part of {requested!r} is empty: name a column on both sides of every +")
    if NO_SCORE in names and NO_SCORE not in schema:
        raise ColumnError(f"{NO_SCORE!r} is combined with scores in {requested!r}: leave it out, or use it alone")
    parts = [part for name in names if (part := choose_score(schema, name))]
    resolved = [part.name for part in parts]
    for name in resolved:
        if resolved.count(name) > 1:
            raise ColumnError(f"{name!r} appears {resolved.count(name)} times in {requested!r}: name it once")
    return Scores(tuple(sorted(parts, key=lambda part: part.name)))


def score_text(requested: str | Sequence[str] | None) -> str | None:
    """Write a list of scores as one text."""
    return requested if requested is None or isinstance(requested, str) else "+".join(map(str, requested))


def range_of_all(frame: pl.LazyFrame, scores: Scores) -> ScoreRangeError | None:
    """Return the error for the first score outside [0, 1]; its fix is based on all rows, so that it fits them all."""
    for part in scores.parts:
        if part.name in scores.relative:
            continue
        value = pl.col("score").fill_nan(None)
        ends = frame.select(part.expression()).select(value.min().alias("low"), value.max().alias("high"))
        low, high = ends.collect(engine="streaming").row(0)
        if low is not None and (low < 0 or high > 1):
            return outside(part.name, low, high, scores.name)
    return None


def same_scores(requested: str, fitted: str) -> bool:
    """Whether the requested scores are those of a plan, as far as it can be decided without a table.

    >>> same_scores("self+prm", "prm:last+self"), same_scores("prm:*", "prm:last"), same_scores("prm", "prm:min")
    (True, False, False)
    >>> same_scores("prm_*+self", "prm_a+prm_b:min+self"), same_scores("prm_*", "prm_a+self")
    (True, False)
    """
    names, others = _plain(requested), _plain(fitted)
    same = len(names) == len(others) and all(map(_same_score, names, others))
    return same or covered(split_scores(requested), split_scores(fitted))


def _plain(text: str) -> list[str]:
    names = [name.removesuffix(":last") for part in split_scores(text) for name in _every(part)]
    return sorted(names, key=lambda name: (name.removeprefix("1-"), name))


def _same_score(requested: str, fitted: str) -> bool:
    """Whether a requested score means a fitted one; `length` means any column, in the direction that was learned."""
    if requested == fitted:
        return True
    scores = [parse_score(name) or Score(name, None) for name in (requested, fitted)]
    names = {score.function if score.computed else score.column for score in scores}
    if len(names) > 1 or (score := COMPUTED.get(names.pop())) is None:
        return False
    columns = {score.column for score in scores if score.computed}
    any_direction = score.undirected and not scores[0].flipped
    return len(columns) < 2 and (any_direction or scores[0].flipped == scores[1].flipped)


def _score_names(schema: pl.Schema, text: str, *, every: bool = False) -> list[str]:
    """Split a text into single scores; it is one score if the text, or what it reduces, is a column.

    With `every`, a step column without a reducer stands for all of them.
    """
    if every and text in schema and isinstance(schema[text], pl.List | pl.Array):
        text = f"{text}:{EVERY}"
    score = parse_score(text)
    is_single = text in schema or (score and score.column in schema and "+" not in (score.reducer or ""))
    parts = [text] if is_single else split_scores(text)
    return [name for part in parts for name in _expanded(schema, part)]


def _expanded(schema: pl.Schema, part: str) -> list[str]:
    """Expand a pattern into the columns that match, and `prm:*` into every reducer of a step column."""
    if (matching := expand_pattern(schema, part, REDUCERS)) is not None:
        return matching
    names = [part] if part in schema else _every(part)
    if len(names) > 1:
        choose_score(schema, part.removesuffix(f":{EVERY}"))  # raises unless the column exists and contains numbers
        choose_score(schema, names[0])  # raises unless it contains steps
    return names


def _every(part: str) -> list[str]:
    column, sep, reducer = part.rpartition(":")
    return [f"{column}:{name}" for name in REDUCERS] if sep and reducer == EVERY else [part]


def choose_score(schema: pl.Schema, requested: str | None, needed: bool = True) -> Score | None:
    """Resolve the requested score against the columns of a table; None means no score.

    If no score is needed and none is requested, only a column called `score` is used.
    """
    if requested == NO_SCORE and NO_SCORE not in schema:
        return None
    candidates = _candidates(schema)
    if requested is None:
        has_score = "score" in schema and (_is_number(schema["score"]) or "score" in candidates)
        if not has_score and not needed:
            return None
        requested = "score" if has_score else _only(candidates, schema)
        if INVERTED.search(key(requested)):
            raise ScoreError(
                f"the score would be {requested!r}, but by its name lower is better: read it with "
                f"{argument('score', f'1-{requested}')}, or, if higher is better, with {argument('score', requested)}"
            )
    spec = (None if requested in schema else parse_score(requested)) or Score(requested, None)
    if computed := computed_score(spec, requested, schema):
        return computed
    column, reducer = spec.column, spec.reducer
    if column not in schema:
        raise ColumnError(f"no score column {column!r}: {did_you_mean(column, candidates)}")
    if reducer is not None and reducer not in REDUCERS:
        raise ColumnError(f"unknown step reducer {reducer!r} in {requested!r}: {did_you_mean(reducer, REDUCERS)}")
    steps = _check_kind(column, schema[column], candidates)
    if reducer is not None and not steps:
        raise NoStepsError(
            f"{column!r} contains one number per response, not a list of steps: use {argument('score', column)}"
        )
    if INVERTED.search(key(column)) and not spec.flipped:
        warnings.warn(
            f"by its name lower is better for {column!r}, but it is read as a score for which higher is better: "
            f"{argument('score', f'1-{column}')} inverts it",
            SteelyardWarning,
            stacklevel=3,
        )
    return replace(spec, reducer=(reducer or "last") if steps else None)


def more_is_better(column: str) -> str:
    """Return the score= of a column, inverted if by its name lower is better.

    >>> more_is_better("prm"), more_is_better("error_prob")
    ('prm', '1-error_prob')
    """
    return f"1-{column}" if INVERTED.search(key(column)) else column


def score_columns(schema: pl.Schema) -> tuple[str, ...]:
    """Return the columns that contain scores, by their types and names."""
    floats = _candidates(schema)
    named = [name for name, kind in schema.items() if key(name) in SCORES and _is_number(kind) and kind != pl.Null]
    likely = [name for name in floats if SCORE_LIKE.search(key(name)) or not NO_SCORES.search(key(name))]
    return tuple(dict.fromkeys([*likely, *named]))


def _check_kind(column: str, kind: Any, candidates: list[str]) -> bool:
    """Return whether a score column contains steps; refuse one that does not contain numbers."""
    if column == "*" or (column.startswith("^") and column.endswith("$")):
        raise ColumnError(f"the name {column!r} would be read as a pattern: rename the column")
    steps = isinstance(kind, pl.List) or (isinstance(kind, pl.Array) and kind.size > 0)
    if steps and _is_embedding(column, kind):
        raise ColumnError(
            f"the column {column!r} contains embeddings, not scores: compare the responses by it with "
            f"{argument('answers', f'free:cosine:{column}')}; {did_you_mean(column, candidates)}"
        )
    if not _is_number(kind.inner if steps else kind):
        raise ColumnError(
            f"the score column {column!r} contains {kind}, not numbers: {did_you_mean(column, candidates)}"
        )
    return steps


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric()) or kind in (pl.Boolean, pl.Null)


def _candidates(schema: pl.Schema) -> list[str]:
    """Return the columns of floats, or of lists of floats, except embeddings."""
    columns = [name for name, kind in schema.items() if name not in (*KNOWN, *TOKEN_LISTS) and _is_score(kind)]
    return [name for name in columns if not _is_embedding(name, schema[name])]


def _is_embedding(name: str, kind: Any) -> bool:
    """Whether a column contains vectors: as a run stores them, or by its name."""
    if not isinstance(kind, pl.List | pl.Array):
        return False
    return kind.inner == pl.Int16 or EMBEDDINGS.search(key(name)) is not None


def _is_score(kind: pl.DataType) -> bool:
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
    return inner in (pl.Float32, pl.Float64, pl.Float16)


def _only(candidates: list[str], schema: pl.Schema) -> str:
    """Return the default score: the only column of floats, else the only one with the name of a score."""
    if len(candidates) == 1 and (_is_named(candidates[0]) or not NO_SCORES.search(key(candidates[0]))):
        return candidates[0]
    numeric = [name for name in schema if key(name) in SCORES and _is_number(schema[name])]
    named = [name for name in candidates if _is_named(name)] or numeric
    verified = [name for name in candidates if name != RECORDED and not NO_SCORES.search(key(name))]
    if len(verified) == 1 and RECORDED in candidates:
        note = f"the score is {verified[0]!r}, from the verifier; {RECORDED!r}, which every run records, is not used"
        warnings.warn(note, SteelyardNote, stacklevel=2)
        return verified[0]
    if len(named) == 1:
        others = [name for name in candidates if name != named[0]]
        rejected = f", and none of {', '.join(others)}" if others else ""
        warnings.warn(f"the score is {named[0]!r}, by its name{rejected}", SteelyardNote, stacklevel=2)
        return named[0]
    texts = [name for name, kind in schema.items() if kind == pl.String and key(name) in SCORES]
    if not candidates and not named and texts:
        raise ScoreError(
            f"the column {texts[0]!r} contains text, not numbers: write scores as numbers (0.8 for 4/5), or read with "
            f"{argument('score', NO_SCORE)} for a majority vote"
        )
    if not candidates and not named:
        raise ScoreError(
            "there is no column of scores (floats, or lists of floats): 'steelyard score' adds one, and "
            f"{argument('score', NO_SCORE)} reads without, for the majority vote"
        )
    if len(candidates) == 1:
        raise ScoreError(
            f"the only column of numbers is {candidates[0]!r}, but its name is not that of a score: if it is a "
            f"score, read it with {argument('score', candidates[0])}, else with {argument('score', NO_SCORE)} for a "
            "majority vote"
        )
    listed = ", ".join(candidates or named)
    raise ScoreError(f"several columns could be the score: choose one with {argument('score')}: {listed}")


def _is_named(name: str) -> bool:
    """Whether a column has the name of a score."""
    return key(name) in SCORES or SCORE_LIKE.search(key(name)) is not None
