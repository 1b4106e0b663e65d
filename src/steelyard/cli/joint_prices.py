"""The prices of samples and scores that plan-budget reads, and the plan for them: of one LLM, or of a committee."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.cli.cascade_view import budget_of, prices_of
from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    from steelyard.evaluation.committee_budget import CommitteeBudget
    from steelyard.evaluation.joint_budget import JointBudget
    from steelyard.voting.methods.base.method import Method
    from steelyard.voting.pools.pool import Pool

    Plan = JointBudget | CommitteeBudget


@dataclass(frozen=True)
class JointPrices:
    """What samples and scores cost, as it was said, and the mean cost per question to stay within."""

    sample: float | None  # of any sample
    score: float | None  # of any score that has no other price
    score_of: dict[str, float]  # of a score, by source
    by_source: dict[str, float] | None  # of a million tokens, by source
    budget: float

    def scores(self, sources: tuple[str, ...]) -> float | dict[str, float]:
        """The price of a score, one for all or by source; a name that is no source is refused later."""
        if not self.score_of:
            return 0.0 if self.score is None else self.score
        usual = {} if self.score is None else dict.fromkeys(sources, self.score)
        return usual | self.score_of


def check_joint(
    sample: float | None,
    score: float | None,
    score_of: list[str] | None,
    budget: str | None,
    by_source: dict[str, float] | None,
    cost: str | None,
    source: str | None,
    **beside: object,
) -> JointPrices:
    """Refuse options that do not go together before any file is read; return the prices and the budget."""
    paid = [option for option in (sample, by_source, cost) if option is not None]
    if not paid or (score is None and not score_of):
        missing = "--price-score" if paid else "--price-sample"
        raise SettingError(f"a budget for samples and scores needs both prices: add {missing}, 0 for what is free")
    if len(paid) > 1:
        raise SettingError(
            "--price-sample, --price and --cost all say what samples cost: sources have prices of their own (--price, "
            "--cost), or all have the same (--price-sample); give one of the three"
        )
    if source is None and (sample is None or score_of):
        raise SettingError("prices are for sources: say who answered, as --source llm")
    if wrong := [option for option, value in beside.items() if value]:
        reasons = {
            "plan": "a plan is fitted here for every number of samples: name a --method instead",
            "samples": "--samples counts samples, and prices count money: use --budget 32",
            "loss": "a loss cannot be aimed for with them yet: use --budget 32",
        }
        raise SettingError(f"prices of samples and scores: {reasons[wrong[0]]}")
    return JointPrices(sample, score, prices_of(score_of) or {}, by_source, _checked(sample, score, budget))


def _checked(sample: float | None, score: float | None, budget: str | None) -> float:
    """The budget, if it and the prices can be."""
    from steelyard.evaluation.joint_search import Prices

    if budget is None:
        raise SettingError("say what to aim for: --budget 32 (mean cost per question, in the money of the prices)")
    spend = budget_of(budget)
    if not isinstance(spend, float):
        raise SettingError(f"a budget of {budget} is a share of the best source's cost: here give a cost, as 32")
    if sample is not None and score is not None:
        Prices(sample, score).check_budget(spend)
    return spend


def plan_jointly(pool: Pool, method: Method, prices: JointPrices, calibrate: float, seed: int) -> Plan:
    """Plan for one LLM, or for a committee where the pool has several sources."""
    import steelyard as sy
    from steelyard.evaluation.accuracy import need_labels
    from steelyard.evaluation.committee_prices import priced

    aim: dict[str, Any] = {"budget": prices.budget, "calibrate": calibrate, "seed": seed}
    score = prices.scores(pool.sources)
    if len(pool.sources) > 1:
        return sy.plan_committee_budget(
            pool, method, prices.by_source, price_sample=prices.sample, price_score=score, **aim
        )
    sample = prices.sample
    if pool.sources:
        known = priced(need_labels(pool), prices.by_source, sample, score)
        sample, score = float(known.sample[0]), float(known.score[0])
        pool = replace(pool, source=None, sources=(), origin=replace(pool.origin, source=None))
        method = sy.CalibratedVote() if method.weighs_sources else method
        show.note(
            f"all responses are of {known.pool.sources[0]}: planned for one LLM, a sample of which costs {sample:.4g}"
        )
    if sample is None or isinstance(score, dict):
        raise AssertionError("prices by source for a table without sources were not refused")
    return sy.plan_joint_budget(pool, method, price_sample=sample, price_score=score, **aim)
