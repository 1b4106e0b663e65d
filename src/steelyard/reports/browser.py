"""The frame of the ballot browser, as HTML; page.js fills it."""

from __future__ import annotations

from html import escape
from typing import Any

from steelyard.reports.ballot_data import (
    CHANGED,
    MAJORITY_RIGHT,
    MISSED,
    RIGHT,
    flags,
)
from steelyard.reports.summary import Case


def browser(number: int, case: Case, ballot: dict[str, Any]) -> str:
    """Filters with their counts, a search box, a list, two buttons, and room for one ballot."""
    flag = flags(case)
    changed, missed = flag & CHANGED > 0, flag & MISSED > 0
    fixed = int((changed & (flag & RIGHT > 0) & (flag & MAJORITY_RIGHT == 0)).sum())
    broken = int((changed & (flag & RIGHT == 0) & (flag & MAJORITY_RIGHT > 0)).sum())
    moved = f"{int(changed.sum()):,} ({fixed} to right, {broken} to wrong)"
    telling = bool(changed.any())  # what changed is what people look for first
    choices = (
        ("all", "all", f"{len(flag):,}", not telling),
        ("changed", "calibration changed the verdict", moved, telling),
        ("missed", "wrong although a correct answer was present", f"{int(missed.sum()):,}", False),
    )
    radios = "".join(
        f'<label><input type=radio name="filter-{number}" value="{key}"{" checked" if on else ""}>{escape(text)} '
        f"<span class=count>{escape(count)}</span></label>"
        for key, text, count, on in choices
    )
    notes = []
    if ballot["left_out"]:
        notes.append(
            f"To keep this page small, {ballot['left_out']:,} questions where nothing changed are not stored in it."
        )
    if ballot["dropped"]:
        notes.append(f"{ballot['dropped']:,} texts did not fit either; their scores and weights are here.")
    kept = f"<p class=note>{escape(' '.join(notes))}</p>" if notes else ""
    return f"""<h2>The ballots</h2>
<p class=note>Every test question, every answer, every weight. Arrow keys move from question to question.</p>{kept}
<div class=card data-ballots="ballots-{number}">
<fieldset class=filters><legend>Show the questions</legend>{radios}</fieldset>
<div class=pick>
<input class=wide type=search data-part=search placeholder="Search" aria-label="Search questions and answers">
<select class=wide data-part=select aria-label="Question"></select>
<button type=button data-part=previous>← Previous</button>
<button type=button data-part=next>Next →</button>
</div>
<p class=count data-part=status role=status></p>
<div data-part=view></div>
</div>"""
