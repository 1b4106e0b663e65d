"""The page of a file that was scored on demand: what was read and saved, and the confidence of the verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.evaluation.accuracy import estimate
from steelyard.evaluation.reports.html_parts import as_html, card, facts, lead, table
from steelyard.foundation.errors import ScoreError, SettingError
from steelyard.runs.bill import bill_lines, run_bills
from steelyard.sampling.score.frugal_rule import fingerprint
from steelyard.tables import read
from steelyard.tables.plan_reading import answers_of_plan, rename_of_plan
from steelyard.tables.score_spelling import parse_score
from steelyard.tables.vote_warnings import warn_of_plan
from steelyard.voting.confidence.calibration_error import BINS, calibration_curve
from steelyard.voting.methods import load
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.verdicts import Verdicts

MAX_LISTED = 2000  # questions listed
CONFIDENCE, SHARE = "confidence", "vote share"


@dataclass(frozen=True)
class OnDemand:
    """The verdicts of a plan on a file with partial scores."""

    file: str
    plan: str
    voter: Method
    column: str
    pool: Pool
    verdicts: Verdicts
    bill: dict[str, Any] | None  # None: the file is no run that was scored on demand
    rule: str | None  # by which this very plan has asked for all that it wants; None: it has not

    @property
    def proven(self) -> bool:
        """Whether no score that was not requested could change a verdict."""
        return self.pool.scored is None or self.rule == "exact"

    @property
    def scored(self) -> Ints:
        """How many responses of every question have been asked for [Q]."""
        scored = np.ones(self.pool.n_responses, bool) if self.pool.scored is None else self.pool.scored
        return np.add.reduceat(scored.astype(np.int64), self.pool.starts[:-1])

    @property
    def correct(self) -> Bools | None:
        """Which verdicts are correct [Q], where the file says so."""
        return self.verdicts.correct(self.pool) if isinstance(self.pool, LabelledPool) else None


def open_on_demand(file: str | Path, plan: str | Path, *, price: float | None = None, **options: Any) -> OnDemand:
    """Let a plan vote on a file; the options are those of `read`, `score` that of the plan unless it is named."""
    voter = load(plan)
    if voter.oracle or voter.weighs_sources or not voter.reads_scores():
        raise SettingError(
            f"{plan} is for {voter.name}: a page by a plan needs one that weighs the scores of a verifier"
        )
    if voter.learns and voter.fitted_on_ is None:
        raise SettingError(f"{plan} is not fitted: fit it on labelled responses")
    trained = voter.fitted_on_.score if voter.fitted_on_ else None
    read_as = {
        "answers": answers_of_plan(voter, options["answers"]),
        "rename": rename_of_plan(voter, file, options["rename"]),
    }
    pool = read(file, **{**options, **read_as, "score": options["score"] or trained})
    score = parse_score(pool.origin.score or "")
    column = score.column if score else ""
    note, bill = run_bills(Path(file), price).get(column) or (None, None)
    if price is not None and bill is None:
        raise SettingError("a price per response is only for the bill of a run scored with --frugal: leave it out")
    warn_of_plan(voter, pool.origin, any_score=bool((~np.isnan(pool.known_scores)).any()) or pool.scored is not None)
    done = note and bill and bill["finished"] and note.get("plan_sha256") == fingerprint(voter)
    rule = str(bill["rule"]) if done and bill else None
    return OnDemand(str(file), str(plan), voter, column, pool, voter.predict(pool), bill, rule)


def plan_of(file: str | Path, pool: Pool) -> Path:
    """The plan that the scores of a run were asked by, if it is still where it was."""
    score = parse_score(pool.origin.score or "")
    note, _ = run_bills(Path(file)).get(score.column if score else "") or (None, None)
    unread = 0 if pool.scored is None else int((~pool.scored).sum())
    named = str(note.get("plan")) if note else ""
    there = Path(named)
    if note and there.is_file() and fingerprint(load(there)) == note.get("plan_sha256"):
        return there
    by = f" by the plan {named}, which is not there any more or has changed" if note else ""
    raise ScoreError(
        f"{unread:,} of {pool.n_responses:,} scores were not requested (score --frugal){by}: name the plan with "
        "--plan, and the page is about its verdicts; 'steelyard score' without --frugal asks for the rest"
    )


def on_demand_section(data: OnDemand) -> str:
    """Return the whole section as HTML."""
    share = 100 * int(data.scored.sum()) / data.pool.n_responses
    headline = f"The verdicts of {len(data.verdicts):,} questions, with {share:.1f} % of the scores"
    parts = [
        f"<h1>{as_html(headline)}</h1>{lead(_lead(data))}",
        f"<div class=big>{''.join(_cards(data))}</div>",
        facts(_facts(data)),
    ]
    if data.bill:
        lines = "".join(f"<li>{as_html(line.strip())}</li>" for line in bill_lines(data.column, data.bill))
        parts.append(f"<h2>The bill</h2><ul>{lines}</ul>")
    parts.append(f"<h2>How sure the verdicts are</h2>{_sure(data)}")
    parts.append(f"<h2>What was asked, question by question</h2>{_questions(data)}")
    return f'<section class="file" aria-label="{escape(data.file)}">{"".join(parts)}</section>'


def _lead(data: OnDemand) -> Iterator[str]:
    """Yield what the verdicts can be relied on for."""
    if data.pool.scored is None:
        yield "Every score was requested."
    elif data.proven:
        yield "No score that was not requested could change a verdict of this plan."
    elif data.rule is not None and data.voter.asking_ is not None:
        yield data.voter.asking_.explain()
    else:
        yield (
            "Not all scores are there that this plan would ask for: missing ones are filled in by what is known "
            "of their answer, and could change a verdict."
        )


def _cards(data: OnDemand) -> Iterator[str]:
    scored, total = int(data.scored.sum()), data.pool.n_responses
    yield card(f"{total - scored:,}", "scores", f"of {total:,} were not requested")
    nothing = int((data.scored == 0).sum())
    yield card(f"{nothing:,}", "questions", f"of {len(data.verdicts):,} were decided without any score")
    name, sure = _sureness(data)
    words = f"mean {name} (not a probability)" if name == SHARE else "of the verdicts are expected to be correct"
    yield card(f"{100 * float(sure.mean()):.1f}", "%", words)
    if data.correct is not None:
        share = estimate(data.correct)
        reach = f"of the verdicts are correct (95 %: {100 * share.low:.1f} to {100 * share.high:.1f})"
        yield card(f"{100 * share:.1f}", "%", reach)


def _facts(data: OnDemand) -> dict[str, str]:
    shown = {
        "file": data.file,
        "LLM": data.pool.origin.llm or (f"{len(data.pool.sources)} sources" if data.pool.sources else "not named"),
        "score of the verifier": data.pool.origin.score or "",
        "plan": data.plan,
        "method": data.voter.name,
        "samples per question (N)": str(data.pool.n),
    }
    return shown | ({"rule": str(data.bill["rule"])} if data.bill else {})


def _sureness(data: OnDemand) -> tuple[str, Floats]:
    """The confidence of each verdict [Q], or its vote share where the plan has learned no probability; which first."""
    p_correct = data.verdicts.p_correct
    return (SHARE, data.verdicts.share) if p_correct is None else (CONFIDENCE, p_correct)


def _sure(data: OnDemand) -> str:
    """Questions by how sure their verdict is; with labels how many are correct, and the error of calibration."""
    (name, sure), correct, scored = _sureness(data), data.correct, data.scored
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    rows = []
    for i in np.unique(place).tolist():
        here = place == i
        ends = f"{100 * i / BINS:.0f} to {100 * (i + 1) / BINS:.0f} %"
        row = [ends, f"{here.sum():,}", f"{100 * sure[here].mean():.1f} %"]
        row += [] if correct is None else [f"{100 * correct[here].mean():.1f} %"]
        rows.append([*row, f"{scored[here].mean():.1f}"])
    labelled = [] if correct is None else ["correct"]
    heads = [name, "questions", f"mean {name}", *labelled, "scores requested"]
    note = "A confidence is the probability that a verdict is correct, learned with the plan."
    if name == SHARE:
        note = "This plan has learned no probability: the vote share is the part of the readable responses that agree."
    elif correct is not None:
        ece = calibration_curve(sure, correct).ece
        note += f" On average it is {100 * ece:.1f} points from the share that is correct (ECE)."
    return f"<p class=note>{as_html(note)}</p>" + table("Scores asked are means per question", heads, rows)


def _questions(data: OnDemand) -> str:
    """A row per question, the least sure verdicts first."""
    verdicts, pool, scored, correct = data.verdicts, data.pool, data.scored, data.correct
    answers, (name, sure) = verdicts.answer, _sureness(data)
    order = np.argsort(sure, kind="stable")[:MAX_LISTED]
    rows = []
    for q in order.tolist():
        named = "none is readable" if verdicts.code[q] < 0 else str(answers[q])
        row = [str(pool.questions[q]), named, f"{100 * sure[q]:.1f} %"]
        row += [f"{verdicts.votes[q]} of {pool.sizes[q]}", f"{scored[q]}", f"{pool.sizes[q] - scored[q]}"]
        rows.append([*row, *([] if correct is None else ["yes" if correct[q] else "no"])])
    heads = ["question", "verdict", name, "votes", "scores requested", "not requested"]
    heads += [] if correct is None else ["correct"]
    left = len(verdicts) - len(order)
    caption = "The least sure first" + (f"; {left:,} surer ones are left out" if left else "")
    return table(caption, heads, rows)
