"""Where a pool came from: its file, columns and sources, as plans record them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """Where a pool came from, as a plan records and compares it."""

    score: str | None = None
    llm: str | None = None
    file: str | None = None
    parts: tuple[str, ...] = ()  # the names of several scores read together
    llms: tuple[str, ...] = ()  # the names of several LLMs whose responses stand together
    source: str | None = None  # the column that names the source of each response
    llm_column: str | None = None  # the column with the names of the LLMs
    score_columns: tuple[str, ...] = ()  # columns that look like scores, read or not
    single: str = ""  # where every question has one response: what is wrong with that, and what to do
    answers: str | None = None  # the kind of answers they were read as
    rename: tuple[tuple[str, str], ...] = ()  # columns that were given our names
    split_from: int | None = None  # how many questions there were before `split`
    tokens: str | None = None  # the column that `Pool.tokens` was read from; `response`: estimated from its length
    relative: tuple[str, ...] = ()  # scores that are standardised within each question, such as length
    undirected: tuple[str, ...] = ()  # scores of which more may be better or worse: labels decide
