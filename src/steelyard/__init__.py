"""Steelyard: sample an LLM many times, weigh each answer by what a verifier says, believe the vote.

    import steelyard as sy
    pool = sy.read("responses.parquet", score="prm:last")
    cal, test = pool.split(0.3, seed=0)
    vote = sy.LogitVote().fit(cal)
    print(sy.accuracy(vote.predict(test), test))

Names are imported when first used, so that `import steelyard` and `steelyard --help` are quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from steelyard.version import __version__

if TYPE_CHECKING:
    from steelyard.answers.extract import extract_answer
    from steelyard.answers.grouping import group_answers, same_answer
    from steelyard.ballot import Ballot, Standing
    from steelyard.calibration.exact import Curve
    from steelyard.errors import (
        CalibrationError,
        ColumnError,
        LabelError,
        PlanError,
        RunError,
        ScoreError,
        SettingError,
        SteelyardError,
        SteelyardWarning,
        TableError,
        UpstreamError,
    )
    from steelyard.evaluation.accuracy import Estimate, accuracy, paired_difference
    from steelyard.evaluation.compute import ComputeToMatch, break_even, compute_to_match, fine_sizes
    from steelyard.evaluation.curves import Curves, curves
    from steelyard.evaluation.evaluate import evaluate
    from steelyard.evaluation.frontier import frontier
    from steelyard.evaluation.needed import samples_needed
    from steelyard.evaluation.planning import Budgeted, plan_budget
    from steelyard.methods import load, method_class, method_names
    from steelyard.methods._base import Method
    from steelyard.methods.best_of_n import BestOfN
    from steelyard.methods.calibrated import CalibratedVote
    from steelyard.methods.kde import KDEVote
    from steelyard.methods.linear import LinearVote
    from steelyard.methods.logit import LogitVote
    from steelyard.methods.majority import MajorityVote
    from steelyard.methods.optimal import OptimalVote
    from steelyard.methods.optimal_crossfit import OptimalCrossfitVote
    from steelyard.methods.pass_at_n import PassAtN
    from steelyard.methods.platt import PlattVote
    from steelyard.methods.vanilla import VanillaVote
    from steelyard.pool import LabelledPool, Pool
    from steelyard.simulate import World, simulate
    from steelyard.stopping import rule_class, rule_names
    from steelyard.stopping._base import Rule
    from steelyard.tables import read, write
    from steelyard.tables.grid import grid_names, load_grid
    from steelyard.tally import tally
    from steelyard.verdicts import Verdicts

_HOME = {
    "Ballot": "ballot",
    "BestOfN": "methods.best_of_n",
    "Budgeted": "evaluation.planning",
    "CalibratedVote": "methods.calibrated",
    "CalibrationError": "errors",
    "ColumnError": "errors",
    "ComputeToMatch": "evaluation.compute",
    "Curve": "calibration.exact",
    "Curves": "evaluation.curves",
    "Estimate": "evaluation.accuracy",
    "KDEVote": "methods.kde",
    "LabelError": "errors",
    "LabelledPool": "pool",
    "LinearVote": "methods.linear",
    "LogitVote": "methods.logit",
    "MajorityVote": "methods.majority",
    "Method": "methods._base",
    "OptimalCrossfitVote": "methods.optimal_crossfit",
    "OptimalVote": "methods.optimal",
    "PassAtN": "methods.pass_at_n",
    "PlanError": "errors",
    "Pool": "pool",
    "RunError": "errors",
    "Rule": "stopping._base",
    "ScoreError": "errors",
    "SettingError": "errors",
    "Standing": "ballot",
    "SteelyardError": "errors",
    "SteelyardWarning": "errors",
    "TableError": "errors",
    "PlattVote": "methods.platt",
    "UpstreamError": "errors",
    "VanillaVote": "methods.vanilla",
    "Verdicts": "verdicts",
    "World": "simulate",
    "accuracy": "evaluation.accuracy",
    "break_even": "evaluation.compute",
    "compute_to_match": "evaluation.compute",
    "curves": "evaluation.curves",
    "evaluate": "evaluation.evaluate",
    "extract_answer": "answers.extract",
    "fine_sizes": "evaluation.compute",
    "frontier": "evaluation.frontier",
    "grid_names": "tables.grid",
    "group_answers": "answers.grouping",
    "load": "methods",
    "load_grid": "tables.grid",
    "method_class": "methods",
    "method_names": "methods",
    "paired_difference": "evaluation.accuracy",
    "plan_budget": "evaluation.planning",
    "read": "tables",
    "rule_class": "stopping",
    "rule_names": "stopping",
    "same_answer": "answers.grouping",
    "samples_needed": "evaluation.needed",
    "simulate": "simulate",
    "tally": "tally",
    "write": "tables",
}

__all__ = [
    "Ballot",
    "BestOfN",
    "Budgeted",
    "CalibratedVote",
    "CalibrationError",
    "ColumnError",
    "ComputeToMatch",
    "Curve",
    "Curves",
    "Estimate",
    "KDEVote",
    "LabelError",
    "LabelledPool",
    "LinearVote",
    "LogitVote",
    "MajorityVote",
    "Method",
    "OptimalCrossfitVote",
    "OptimalVote",
    "PassAtN",
    "PlanError",
    "PlattVote",
    "Pool",
    "Rule",
    "RunError",
    "ScoreError",
    "SettingError",
    "Standing",
    "SteelyardError",
    "SteelyardWarning",
    "TableError",
    "UpstreamError",
    "VanillaVote",
    "Verdicts",
    "World",
    "__version__",
    "accuracy",
    "break_even",
    "compute_to_match",
    "curves",
    "evaluate",
    "extract_answer",
    "fine_sizes",
    "frontier",
    "grid_names",
    "group_answers",
    "load",
    "load_grid",
    "method_class",
    "method_names",
    "paired_difference",
    "plan_budget",
    "read",
    "rule_class",
    "rule_names",
    "same_answer",
    "samples_needed",
    "simulate",
    "tally",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    value = getattr(import_module(f"steelyard.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Face(ModuleType):
    """Keeps the functions `tally` and `simulate` in front of the modules they live in.

    Importing a submodule sets it as an attribute of its package; for these names that would
    replace the function by the module.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
