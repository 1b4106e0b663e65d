"""A file whose verifier was asked on demand: what a plan decides on it, and what was read for that, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.foundation.errors import ScoreError, SettingError
from steelyard.runs.parted_bill import run_bills
from steelyard.sampling.score.frugal_rule import fingerprint
from steelyard.tables import read
from steelyard.tables.plan_reading import answers_of_plan, rename_of_plan
from steelyard.tables.score_spelling import parse_score
from steelyard.tables.vote_warnings import warn_of_plan
from steelyard.voting.methods import load
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.verdicts import Verdicts


@dataclass(frozen=True)
class OnDemand:
    """A plan's verdicts with the scores that there are."""

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
        """Whether no score that was not asked could change a verdict."""
        return self.pool.asked is None or self.rule == "exact"

    @property
    def asked(self) -> Ints:
        """How many responses of every question have been asked for [Q]."""
        asked = np.ones(self.pool.n_responses, bool) if self.pool.asked is None else self.pool.asked
        return np.add.reduceat(asked.astype(np.int64), self.pool.starts[:-1])

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
    note, bill = _told(file, column, price)
    if price is not None and bill is None:
        raise SettingError("a price per response is for the bill of a run scored with --frugal: leave it away")
    warn_of_plan(voter, pool.origin, any_score=bool((~np.isnan(pool.known_scores)).any()) or pool.asked is not None)
    done = note and bill and bill["finished"] and note.get("plan_sha256") == fingerprint(voter)
    rule = str(bill["rule"]) if done and bill else None
    return OnDemand(str(file), str(plan), voter, column, pool, voter.predict(pool), bill, rule)


def plan_of(file: str | Path, pool: Pool) -> Path:
    """The plan that the scores of a run were asked by, if it is still where it was."""
    score = parse_score(pool.origin.score or "")
    note, _ = _told(file, score.column if score else "")
    unread = 0 if pool.asked is None else int((~pool.asked).sum())
    named = str(note.get("plan")) if note else ""
    there = Path(named)
    if note and there.is_file() and fingerprint(load(there)) == note.get("plan_sha256"):
        return there
    by = f" by the plan {named}, which is not there any more or has changed" if note else ""
    raise ScoreError(
        f"{unread:,} of {pool.n_responses:,} scores were not asked (score --frugal){by}: name the plan with --plan, "
        "and the page is about its verdicts; 'steelyard score' without --frugal asks for the rest"
    )


def _told(
    file: str | Path, column: str, price: float | None = None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """What a run says of a verifier that was asked on demand: how its last walk began, and its bill."""
    return run_bills(Path(file), price).get(column) or (None, None)
