"""The standard columns: those that a table needs, their names in another case, and finish, rule and tokens."""

from __future__ import annotations

import polars as pl

from steelyard.answers.doubtful_answers import LAST_NUMBER, cut_expression
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, did_you_mean
from steelyard.tables.names import check_names, columns_named, key, only

KNOWN = {
    "question", "sample", "response", "answer", "rule", "correct", "gold", "prompt", "domain", "llm", "tokens",
    "finish",
}  # fmt: skip
KEPT_NAMES = {"llm", "tokens"}  # options refer to these columns by name (--source LLM)
FINISH, RULE = "finish", "rule"
CUT, LAST = "was cut off", "is the last number"  # columns of a batch while it is read
FINISHES = ("finish_reason", "stop_reason", "finish_reasons", "stop_reasons")
TRUNCATED = "is_truncated"  # boolean, written by verifiers; `truncated` often refers to the prompt
TOKENS, RESPONSE = "tokens", "response"
CHARACTERS = 4  # per token, if tokens were not counted


def check_columns(schema: pl.Schema) -> None:
    """Refuse a table without a question, or without an answer or a response; report everything that is missing."""
    missing = [] if "question" in schema else ["'question' (the id that responses to one question share)"]
    missing += [] if "answer" in schema or "response" in schema else ["'answer' (or 'response', the full text)"]
    if missing:
        check_names(schema)
        ours = "question" if "question" not in schema else "answer"
        others = [name for name in schema.names() if name not in KNOWN]
        raise ColumnError(
            f"the table has no column {' and no column '.join(missing)}: rename one "
            f"({argument('rename', {'yours': ours})}); {did_you_mean(ours, others)}"
        )


def case_renames(schema: pl.Schema) -> dict[str, str]:
    """Return the columns to rename, {theirs: ours}. A standard name that is already there is not replaced.

    >>> case_renames(pl.Schema({"Question": pl.String, "ANSWER ": pl.String, "Score": pl.Float64}))
    {'ANSWER ': 'answer', 'Question': 'question'}
    >>> case_renames(pl.Schema({"Question": pl.String, "question": pl.String}))
    {}
    """
    missing = sorted(KNOWN - KEPT_NAMES - set(schema))
    columns = [name for name in schema if key(name) != "sample" or schema[name].is_integer()]
    columns_of = {ours: only([name for name in columns if key(name) == ours], ours) for ours in missing}
    return {theirs: ours for ours, theirs in columns_of.items() if theirs is not None}


def option_columns(schema: pl.Schema) -> dict[str, str]:
    """Return {ours: theirs} for columns that also keep their own name."""
    columns_of = {ours: only(columns_named(schema, {ours}), ours) for ours in sorted(KEPT_NAMES - set(schema))}
    return {ours: theirs for ours, theirs in columns_of.items() if theirs is not None}


def with_finish(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add the column `finish` from a known alias, if the table has one."""
    schema = frame.collect_schema()
    if FINISH in schema:
        return frame
    theirs = next((name for name in schema if key(name) in FINISHES and schema[name] == pl.String), None)
    flag = next((name for name in schema if key(name) == TRUNCATED and schema[name] == pl.Boolean), None)
    if theirs is not None:
        return frame.with_columns(pl.col(theirs).alias(FINISH))
    return frame if flag is None else frame.with_columns(pl.when(flag).then(pl.lit("length")).alias(FINISH))


def how_read_expressions(schema: pl.Schema) -> list[pl.Expr]:
    """Return expressions for truncated responses, and for stored answers that are just the last number in a text."""
    expressions = []
    if FINISH in schema and schema[FINISH] in (pl.String, pl.Categorical, pl.Enum):
        expressions.append(cut_expression(FINISH).alias(CUT))
    if "answer" in schema and RULE in schema and schema[RULE] == pl.String:
        expressions.append((pl.col(RULE) == LAST_NUMBER).fill_null(value=False).alias(LAST))
    return expressions


def token_column(schema: pl.Schema, tokens: bool | str) -> str | None:
    """Return the column that the tokens are read from, as `tokens` of `sy.read` asks; None if there is none.

    >>> schema = pl.Schema({"response": pl.String(), "cost": pl.Float64()})
    >>> token_column(schema, "cost"), token_column(schema, True), token_column(schema, False)
    ('cost', 'response', None)
    """
    if isinstance(tokens, str) or not tokens:
        return tokens or None
    return next((name for name in (TOKENS, RESPONSE) if _has_values(schema, name)), None)


def token_expression(schema: pl.Schema, column: str | None) -> pl.Expr | None:
    """Return the tokens of each row, as `tokens`; None if they are unknown. `column`, if given, must exist."""
    if column is not None and column not in schema:
        raise ColumnError(f"there is no column {column!r} to read costs from: {did_you_mean(column, schema.names())}")
    name = column or TOKENS
    has_counts = _has_values(schema, name)
    if has_counts and not schema[name].is_numeric():
        raise ColumnError(f"the column {name!r} contains {schema[name]}, not one number per response")
    estimates = [pl.col(name).cast(pl.Float64).fill_nan(None)] if has_counts else []
    if column is None and schema.get(RESPONSE) == pl.String:
        estimates.append(pl.col(RESPONSE).str.len_chars().cast(pl.Float64) / CHARACTERS)
    return pl.coalesce(estimates).alias(TOKENS) if estimates else None


def _has_values(schema: pl.Schema, name: str) -> bool:
    return name in schema and schema[name] != pl.Null
