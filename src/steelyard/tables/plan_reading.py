"""How a plan reads a table: its kind of answers and its renamed columns."""

from __future__ import annotations

import warnings
from typing import Any

from steelyard.answers.extract import AUTO, kind_of
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import PlanError, SettingError, SteelyardError, SteelyardNote
from steelyard.tables.prompts import Template
from steelyard.tables.sources.opening import open_source
from steelyard.voting.methods.base.method import Method


def check_plan_or_method(plan: object, method: object) -> None:
    """Refuse a plan together with a method."""
    if plan is not None and method is not None:
        raise SettingError("a plan and a method exclude each other, because a plan has a method: leave out one of them")


def answers_of_plan(voter: Method, answers: str) -> str:
    """Return the kind of answers to read with a plan: the plan's. Another explicit kind is refused.

    >>> from steelyard import MajorityVote
    >>> answers_of_plan(MajorityVote(), "choice")
    'choice'
    """
    if answers != AUTO:
        answers = kind_of(answers).name
    fitted = voter.fitted_on_
    if fitted is None:
        return answers
    if fitted.answers is None:
        if answers == AUTO and voter.learns:
            _note(
                "the plan does not say which kind of answers it was fitted on, so this table decides: fit the plan "
                f"again to store the kind, or name it with {argument('answers')}"
            )
        return answers
    if answers not in (AUTO, fitted.answers):
        raise PlanError(
            f"the plan was fitted on answers of the kind {fitted.answers!r}, not {answers!r}: leave out "
            f"{argument('answers')} to read them as the plan does, or fit a plan with {argument('answers', answers)}"
        )
    return fitted.answers


def answers_to_question(question: str, template: Template, voter: Method | None = None, answers: str = AUTO) -> str:
    """Return the kind of answers to one question: `answers`, else the plan's, the prompt's or what the question needs.

    >>> from steelyard.tables.prompts import read_template
    >>> [answers_to_question(text, read_template("math")) for text in ("1 + 1?", "Which? A) 1 B) 2")]
    ['math', 'choice']
    """
    explicit = (template.answers or AUTO) if answers == AUTO else answers
    kind = explicit if voter is None else answers_of_plan(voter, explicit)
    if kind != AUTO:
        return kind
    from steelyard.answers.auto_kind import kind_from_question

    return kind_from_question(question)


def rename_of_plan(voter: Method, table: Any, rename: dict[str, str] | None) -> dict[str, str]:
    """Return the columns to rename: those of the caller, else those of the plan that the table has."""
    stored = voter.fitted_on_.rename if voter.fitted_on_ else {}
    if rename or not stored:
        return rename or {}
    try:
        columns = set(open_source(table).first)
    except SteelyardError:  # reported when the table is read
        return {}
    renamed = {old: new for old, new in stored.items() if old in columns}
    if renamed:
        _note(f"columns are renamed as the plan's were: {', '.join(f'{old}={new}' for old, new in renamed.items())}")
    return renamed


def _note(text: str) -> None:
    warnings.warn(text, SteelyardNote, stacklevel=3)
