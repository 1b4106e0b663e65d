"""What a fitted plan changes against the majority vote, in plain words."""

from __future__ import annotations

from steelyard.voting.methods.base.assessable import Assessable
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.verdicts import Verdicts


def changed_verdicts(plan: Verdicts, majority: Verdicts) -> int:
    """How many questions a plan decides otherwise than the majority vote."""
    return int((plan.code != majority.code).sum())


def plan_changes(vote: Method, plan: Verdicts, majority: Verdicts) -> str:
    """Say what was learned, and how many of these verdicts differ from those of the majority vote."""
    learned = vote.described() if isinstance(vote, Assessable) else "the weights were learned"
    return (
        f"{vote.name}: {learned}. On these {len(plan):,} questions it changes "
        f"{changed_verdicts(plan, majority):,} verdicts of the majority vote."
    )
