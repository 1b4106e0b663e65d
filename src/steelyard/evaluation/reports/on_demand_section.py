"""The page of a file whose verifier was asked on demand: what was read and saved, and how sure the verdicts are."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from steelyard.evaluation.accuracy import estimate
from steelyard.evaluation.reports.html_parts import card, facts, lead, said, table
from steelyard.evaluation.reports.on_demand import OnDemand
from steelyard.runs.bill_text import bill_lines
from steelyard.voting.confidence.calibration_error import BINS, calibration_curve
from steelyard.voting.pools.arrays import Floats

MOST = 2000  # questions listed
CONFIDENCE, SHARE = "confidence", "vote share"


def on_demand_section(found: OnDemand) -> str:
    """Everything, as HTML."""
    head = f"<h1>{said(_headline(found))}</h1>{lead(_lead(found))}"
    parts = [head, f"<div class=big>{''.join(_cards(found))}</div>", facts(_facts(found))]
    if found.bill:
        lines = "".join(f"<li>{said(line.strip())}</li>" for line in bill_lines(found.column, found.bill))
        parts.append(f"<h2>The bill</h2><ul>{lines}</ul>")
    parts.append(f"<h2>How sure the verdicts are</h2>{_sure(found)}")
    parts.append(f"<h2>What was asked, question by question</h2>{_questions(found)}")
    return f'<section class="file" aria-label="{escape(found.file)}">{"".join(parts)}</section>'


def _headline(found: OnDemand) -> str:
    asked, total = int(found.asked.sum()), found.pool.n_responses
    return f"The verdicts of {len(found.verdicts):,} questions, with {100 * asked / total:.1f} % of the scores"


def _lead(found: OnDemand) -> Iterator[str]:
    """What may be relied on."""
    if found.pool.asked is None:
        yield "Every score was asked for."
    elif found.proven:
        yield "No score that was not asked could change a verdict of this plan."
    elif found.rule is not None and found.voter.asking_ is not None:
        yield found.voter.asking_.explain()
    else:
        yield (
            "Not all scores are there that this plan would ask for: what was not asked is filled in by what is known "
            "of its answer, and could change a verdict."
        )


def _cards(found: OnDemand) -> Iterator[str]:
    asked, total = int(found.asked.sum()), found.pool.n_responses
    yield card(f"{total - asked:,}", "scores", f"of {total:,} were not asked for")
    nothing = int((found.asked == 0).sum())
    yield card(f"{nothing:,}", "questions", f"of {len(found.verdicts):,} were decided without any score")
    name, sure = _sureness(found)
    words = f"mean {name} (not a probability)" if name == SHARE else "of the verdicts are expected to be correct"
    yield card(f"{100 * float(sure.mean()):.1f}", "%", words)
    if found.correct is not None:
        share = estimate(found.correct)
        reach = f"of the verdicts are correct (95 %: {100 * share.low:.1f} to {100 * share.high:.1f})"
        yield card(f"{100 * share:.1f}", "%", reach)


def _facts(found: OnDemand) -> dict[str, str]:
    told = {
        "file": found.file,
        "LLM": found.pool.origin.llm or "not named",
        "score of the verifier": found.pool.origin.score or "",
        "plan": found.plan,
        "method": found.voter.name,
        "samples per question (N)": str(found.pool.n),
    }
    return told | ({"rule": str(found.bill["rule"])} if found.bill else {})


def _sureness(found: OnDemand) -> tuple[str, Floats]:
    """The confidence of each verdict [Q], or its vote share where the plan has learned no probability; which first."""
    p_correct = found.verdicts.p_correct
    return (SHARE, found.verdicts.share) if p_correct is None else (CONFIDENCE, p_correct)


def _sure(found: OnDemand) -> str:
    """Questions by how sure their verdict is; with labels how many are correct, and the error of calibration."""
    (name, sure), correct, asked = _sureness(found), found.correct, found.asked
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    rows = []
    for i in np.unique(place).tolist():
        here = place == i
        ends = f"{100 * i / BINS:.0f} to {100 * (i + 1) / BINS:.0f} %"
        row = [ends, f"{here.sum():,}", f"{100 * sure[here].mean():.1f} %"]
        row += [] if correct is None else [f"{100 * correct[here].mean():.1f} %"]
        rows.append([*row, f"{asked[here].mean():.1f}"])
    labelled = [] if correct is None else ["correct"]
    heads = [name, "questions", f"mean {name}", *labelled, "scores asked"]
    note = "A confidence is the probability that a verdict is correct, learned with the plan."
    if name == SHARE:
        note = "This plan has learned no probability: the vote share is the part of the readable responses that agree."
    elif correct is not None:
        ece = calibration_curve(sure, correct).ece
        note += f" On average it is {100 * ece:.1f} points from the share that is correct (ECE)."
    return f"<p class=note>{said(note)}</p>" + table("Scores asked are means per question", heads, rows)


def _questions(found: OnDemand) -> str:
    """A row per question, the least sure verdicts first."""
    verdicts, pool, asked, correct = found.verdicts, found.pool, found.asked, found.correct
    answers, (name, sure) = verdicts.answer, _sureness(found)
    order = np.argsort(sure, kind="stable")[:MOST]
    rows = []
    for q in order.tolist():
        named = "none is readable" if verdicts.code[q] < 0 else str(answers[q])
        row = [str(pool.questions[q]), named, f"{100 * sure[q]:.1f} %"]
        row += [f"{verdicts.votes[q]} of {pool.sizes[q]}", f"{asked[q]}", f"{pool.sizes[q] - asked[q]}"]
        rows.append([*row, *([] if correct is None else ["yes" if correct[q] else "no"])])
    heads = ["question", "verdict", name, "votes", "scores asked", "not asked"]
    heads += [] if correct is None else ["correct"]
    left = len(verdicts) - len(order)
    caption = "The least sure first" + (f"; {left:,} surer ones are left out" if left else "")
    return table(caption, heads, rows)
