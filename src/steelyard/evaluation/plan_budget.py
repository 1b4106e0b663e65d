"""A budget becomes part of a plan: the rule is chosen on one part of the questions and measured on the other."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.evaluation.accuracy import need_labels
from steelyard.evaluation.curves import default_sizes
from steelyard.evaluation.frontier import frontier_of, measured
from steelyard.evaluation.percentages import percent, points
from steelyard.evaluation.rule_for_budget import RuleSearch, check_aim
from steelyard.evaluation.trajectories import FEWEST, crossfit_trajectories, trajectories
from steelyard.foundation.errors import CalibrationError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.rule import Rule

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Budgeted:
    """A fitted method with its stopping rule, and what that costs and gives on questions it was not chosen on.

    >>> import steelyard as sy
    >>> found = sy.plan_budget(sy.read_labelled(sy.simulate(200, 8)), sy.LogitVote(), samples=4, resamples=2)
    >>> found.rule is found.method.stopping_, found.calibration_questions, found.test_questions
    (True, 100, 100)
    """

    method: Method  # its `stopping_` is the rule
    frontier: pl.DataFrame  # one row a budget and kind of rule
    figures: dict[str, Any]  # of the rule, as a row of the frontier
    asked: dict[str, float]  # samples and/or loss
    refused: Rule | None  # a rule that seemed to pay, and fell behind on the other questions
    calibration_questions: int
    test_questions: int

    @property
    def rule(self) -> Rule:
        """The stopping rule."""
        if self.method.stopping_ is None:
            raise AssertionError("a budget without a rule")
        return self.method.stopping_

    def advice(self) -> str:
        """What to do, how sure that is, and what it costs, in a few sentences."""
        found, loss = self.figures, self.asked.get("loss")
        correct = f"{percent(found['accuracy'])} % ± {percent(found['se'])} correct"
        where = f"on the {self.test_questions} other questions"
        if self.refused:
            said = f"Do not stop early: {self.refused.name} seemed to pay and fell behind {where}; "
            said += f"take {self.rule.cap} samples per question, {correct}."
        elif self.rule.name == "fixed":
            said = "Do not stop early: it does not pay on the calibration questions. "
            said += f"Take {self.rule.cap} samples per question: {correct} {where}."
        else:
            gain = f"{points(found['gain'])} points ({points(found['gain_low'])} to {points(found['gain_high'])})"
            said = f"Stop by {self.rule.name} at {self.rule.threshold:g}, after {self.rule.least} to {self.rule.cap} "
            said += f"samples: {found['samples']:.1f} per question {where}, {correct}; {gain} against as many for each."
        if loss is not None:
            interval = f"{points(found['loss_low'])} to {points(found['loss_high'])}"
            said += f" It loses {points(found['loss'])} points ({interval}) against all samples"
            said += ", more than asked: label more questions." if found["loss"] > loss else "."
        return said


def plan_budget(
    pool: Pool,
    method: Method,
    *,
    samples: float | None = None,
    loss: float | None = None,
    calibrate: float = 0.5,
    refit: bool = True,
    resamples: int | None = None,
    seed: int = 0,
) -> Budgeted:
    """Choose the stopping rule for a mean number of samples, or for a loss of accuracy against all of them.

    A part `calibrate` of the questions fits the method and chooses the rule, each question voted on by a fit on the
    others; the rest says what that is worth. With `refit=False` the method votes as it was fitted, on other questions
    than these. A rule that falls behind a fixed number of samples on the rest is not taken.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(200, 8))
    >>> plan_budget(pool, sy.LogitVote(), samples=4, resamples=2).rule.cap <= 8
    True
    """
    check_aim(samples, loss, pool.n)
    cal, test = need_labels(pool).split(calibrate, seed=seed)
    if test.n_questions < FEWEST:
        raise CalibrationError(
            f"{test.n_questions} questions left to test on are too few to say what a rule is worth: "
            f"leave {FEWEST} or more, with more questions or a smaller share to calibrate on"
        )
    options: dict[str, Any] = {"resamples": resamples, "seed": seed}
    shelf = RuleSearch(crossfit_trajectories(method, cal, **options) if refit else trajectories(method, cal, **options))
    choice = shelf.choose(samples=samples, loss=loss)
    voter = deepcopy(method)
    if refit:
        voter.fit(cal)
    seen = trajectories(voter, test, **options)
    budgets = sorted({*default_sizes(min(cal.n, test.n)), *([samples] if samples is not None else [])})
    table = frontier_of(shelf, seen, budgets, seed=seed)
    rule, refused, figures = choice.rule, None, measured([choice.rule], seen, seed=seed)[0]
    if figures["gain_high"] < 0 and "fixed" in choice.offers:
        rule, refused = choice.offers["fixed"], rule
        figures = measured([rule], seen, seed=seed)[0]
    voter.stopping_ = rule
    asked = {name: value for name, value in (("samples", samples), ("loss", loss)) if value is not None}
    return Budgeted(voter, table, figures, asked, refused, cal.n_questions, test.n_questions)
