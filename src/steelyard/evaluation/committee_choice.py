"""Which way to spend on a committee for a budget: chosen on calibration questions, by verdicts of fits on other folds.

For every budget the search offers its best purchase, the best of one source, and both with more samples; with votes
alone and with scores. Of the ways within a budget the most accurate is taken and, of those within noise of it that
decide otherwise, the one that spends most; a way with scores must beat the best one without by more than a standard
error and a fifth of a point.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.evaluation.committee_prices import PricedPool
from steelyard.evaluation.committee_ways import CommitteeWays, Way
from steelyard.evaluation.purchase_search import PurchaseSearch
from steelyard.evaluation.rule_for_budget import CLOSE, NOISE, WORTH
from steelyard.evaluation.rule_search import Paired
from steelyard.voting.methods.committee import CommitteeVote


class CommitteeChoice:
    """The ways to spend that are worth trying, measured once."""

    def __init__(
        self, method: CommitteeVote, cal: PricedPool, budget: float, budgets: Sequence[float] | None, *, seed: int = 0
    ) -> None:
        self.ways = CommitteeWays(method, cal, seed=seed)
        search = PurchaseSearch(cal, seed)
        self.budgets = sorted({*(search.budgets if budgets is None else budgets), budget})
        self.votes = [self.ways.counted(bought) for bought in search.offers(self.budgets, scores=False)]
        scored = search.offers(self.budgets, scores=True)
        self.scored = [way for bought in scored for way in self.ways.asked(bought)]

    def within(self, budget: float) -> Way:
        """Choose the way to spend at most so much per question."""
        votes = _best(self.votes, budget) or min(self.votes, key=lambda way: way.mean)
        scored = _best(self.scored, budget)
        if scored is None:
            return votes
        gain = Paired.of(scored.correct - votes.correct)
        return scored if gain.mean > max(gain.se, WORTH) else votes


def _best(ways: Sequence[Way], budget: float) -> Way | None:
    """The most accurate way within a budget and, of those within noise of it, the one that spends most."""
    among = [way for way in ways if way.mean <= budget * (1 + CLOSE)]
    if not among:
        return None
    top = max(among, key=lambda way: (way.correct.mean(), -way.mean))
    behind = ((way, Paired.of(top.correct - way.correct)) for way in among if way.mean >= top.mean)
    close = (way for way, gap in behind if way is top or (gap.se and gap.mean <= NOISE * gap.se))
    return max(close, key=lambda way: (way.mean, way.correct.mean()))
