"""The frame of the ballot browser, as HTML; page.js fills it in."""

from __future__ import annotations

from html import escape
from typing import Any

from steelyard.evaluation.reports.ballot_data import CHANGED, CORRECT, MAJORITY_CORRECT, MISSED, flags
from steelyard.evaluation.reports.summary import Case
from steelyard.voting.method_colours import colour
from steelyard.voting.pools.arrays import Ints

SHOWN = {
    "probability": (
        "The probability that each answer is the correct one; the bars and &ldquo;none of these&rdquo; add up to "
        "100&nbsp;%. Open an answer to read its responses, and what it would lose without each."
    ),
    "weight": (
        "The weight for and against each answer: filled bars count for it, hollow ones against it. Open an answer to "
        "read its responses."
    ),
    "share": "Each answer&rsquo;s part of all positive weight. Open an answer to read its responses.",
}
OUTCOMES = ((True, False, "became correct"), (False, True, "became wrong"), (False, False, "stayed wrong"))


def browser(number: int, case: Case, ballot: dict[str, Any]) -> str:
    """Filters with their counts, a search box, a list, two buttons, and room for one ballot."""
    flag = flags(case)
    changed, missed = flag & CHANGED > 0, flag & MISSED > 0
    telling = bool(changed.any())  # what changed is what people look for first
    choices = (
        ("all", "all", f"{len(flag):,}", not telling),
        ("changed", "verdict differs from majority's", f"{int(changed.sum()):,}{moved(flag)}", telling),
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
        notes.append(f"{ballot['dropped']:,} texts did not fit either; their scores are here.")
    note = f"<p class=note>{escape(' '.join(notes))}</p>" if notes else ""
    return f"""<h2>The ballots</h2>
<p class=note>{SHOWN[ballot["kind"]]} Arrow keys move from question to question.</p>{note}
<div class=card data-ballots="ballots-{number}" style="--own:{colour(case.method.name)}">
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


def moved(flag: Ints) -> str:
    """What became of the verdicts that changed; the counts add up to all of them."""
    changed = flag[flag & CHANGED > 0]
    now, before = changed & CORRECT > 0, changed & MAJORITY_CORRECT > 0
    counts = [(int(((now == is_now) & (before == was)).sum()), outcome) for is_now, was, outcome in OUTCOMES]
    still = int((now & before).sum())  # two answers may both be labelled correct
    parts = [f"{count:,} {outcome}" for count, outcome in (*counts, (still, "stayed correct")) if count]
    return f" ({', '.join(parts)})" if parts else ""
