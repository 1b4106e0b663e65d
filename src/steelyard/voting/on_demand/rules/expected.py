"""Expected: ask until what another score is expected to bring falls below its price.

    ask about answer k while  u_k + margin h(a_k)  >  u_lead - margin h(a_lead)
    h(0) = 2,  h(a) = 1 / sqrt(a),  and 0 where all of an answer was read

u: log-odds of the answers with missing scores filled in; a: readings of the answer so far. The lead and
the least known of its rivals are asked about, one reading each per round. The margin is the one at which, over the
calibration questions, a wider one would bring less than the price of what it asks (evaluation/scores_on_demand.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from steelyard.foundation.errors import SettingError
from steelyard.voting.on_demand.base_rule import AskingRule, Voter, answer_totals
from steelyard.voting.on_demand.readings import readings
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool

AT_ONCE = 3  # answers asked about per round
UNREAD = 2.0  # how much more an answer may change of which nothing was read


class Expected(AskingRule):
    """Ask for what is worth its price."""

    name: ClassVar[str] = "expected"

    def check(self, voter: Voter) -> None:
        if voter.asking_ is None:
            raise SettingError(
                "this plan has not learned what a score is worth: fit it with --frugal expected, or use the rule "
                "'exact', which needs no learning"
            )

    def next(self, voter: Voter, pool: Pool) -> Bools:
        learned = voter.asking_
        if learned is None:
            raise AssertionError("a plan that has not learned to ask was not refused")
        groups = readings(pool)
        u = learned.sharpness * answer_totals(voter, pool, groups)
        top = groups.top(u)
        lead = groups.one(u == top)
        a = np.bincount(groups.answer[groups.scored], minlength=len(groups.begin))
        used = np.bincount(groups.of_row, voter.uses_scores(pool)[groups.rows], len(groups.first)) > 0
        left = replace(groups, scored=groups.scored | ~used)
        open_ = np.bincount(groups.answer[~left.scored], minlength=len(groups.begin)) > 0
        change = np.where(open_, np.where(a == 0, UNREAD, 1 / np.sqrt(np.maximum(a, 1))), 0.0)
        room = learned.margin * (change + groups.top(np.where(lead, change, 0.0)))
        rival = ~lead & (u + room > top)
        candidates = (rival | (lead & (groups.top(rival.astype(np.int64)) > 0))) & open_
        priority = np.where(candidates, learned.margin * change + 0.1 * (u - top), -np.inf)
        return groups.copies(left.next_unread(candidates & (groups.ranks(priority) < AT_ONCE)), pool.n_responses)
