"""Exact: ask until no score of the rest could change the winner.

The method says between what totals every answer must end (on_demand/bounds.py). While another answer could still win,
the one that leads as things look and those that can come nearest are asked about, one reading each per round. The
verdict is that of all scores, proven; a question in which only a tie is left is asked to its end.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from steelyard.foundation.errors import SettingError
from steelyard.voting.on_demand.base_rule import AskingRule, Voter, leading
from steelyard.voting.on_demand.readings import readings
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool

RIVALS = 3  # asked about at once


class Exact(AskingRule):
    """Ask for what could still change the verdict."""

    name: ClassVar[str] = "exact"

    def check(self, voter: Voter) -> None:
        blank = Pool.from_arrays(question=[0, 0], answer=[0, 1], scores=[0.5, 0.5])
        if voter.bounds(blank.only_scored(np.array([True, False]))) is None:
            name = getattr(voter, "name", type(voter).__name__)
            possible = "" if getattr(voter, "oracle", False) else "'expected', or "  # an oracle can do neither
            raise SettingError(
                f"{name} gives no bounds on what an unread response may weigh, so the rule 'exact' cannot be used: "
                f"use {possible}a plan of calibrated, logit, linear, platt, kde, vanilla, best-of-n or majority"
            )

    def next(self, voter: Voter, pool: Pool) -> Bools:
        groups, bounds = readings(pool), voter.bounds(pool)
        if bounds is None:
            raise AssertionError("a method without bounds was not refused")
        lead = leading(voter, pool, groups)
        beaten, gap = bounds.ahead(groups, lead, pool)
        rival = ~lead & ~beaten
        unsure = groups.top(rival.astype(np.int64)) > 0
        near = np.where(rival, -gap, -np.inf)
        chosen = unsure & (lead | (rival & (groups.ranks(near) < RIVALS)))
        picked = groups.next_unread(chosen)
        selected = groups.copies(picked, pool.n_responses)
        stuck = np.zeros(pool.n_questions, bool)
        stuck[groups.question[unsure]] = True
        stuck[groups.question[groups.answer[picked]]] = False
        everything: Bools = selected | pool.spread(stuck)
        return everything
