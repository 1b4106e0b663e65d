"""The ability of a method to say what it is worth, measured on questions held out of the fit, and to explain it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.guarded import out_of_fold
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.provenance import Provenance
from steelyard.voting.pools.pool import LabelledPool

WORTH = 0.003  # a gain of less is not worth a label


@dataclass(repr=False, eq=False)
class Assessable(Method, ABC):
    """A method that can be assessed, and that explains in plain words what was fitted and what to expect of it."""

    gains_: dict[str, float] = field(default_factory=dict, init=False)

    def assess(self, labelled: LabelledPool) -> Self:
        """Find out, on questions held out of the fit, what is gained and whether more labels would pay."""
        seen = labelled.first(self.fitted_on_.n) if self.fitted_on_ else labelled
        self.gains_ = _gains(self, seen, getattr(self, "seed", 0))
        return self

    def explain(self) -> str:
        """Say in plain words what was fitted and, after `assess`, what to expect of it."""
        return _explained(self.fitted_on_, self.described(), self.gains_, self.questions_reserved())

    def described(self) -> str:
        """What was fitted, as half a sentence."""
        return "the weights were learned"

    def questions_reserved(self) -> int:
        """How many questions of the calibration set were kept apart."""
        return 0


def _gains(vote: Method, labelled: LabelledPool, seed: int) -> dict[str, float]:
    """Return the gain over majority, vanilla and fewer questions, with standard errors, and how many samples do."""
    from steelyard.voting.methods import method_class

    many = out_of_fold(vote, labelled, 5, seed=seed)  # fitted on 80 % of the questions
    half = out_of_fold(vote, labelled, 2, seed=seed)  # on 50 %
    if many is None or half is None:
        return {}
    directed = labelled.scores is not None and not labelled.origin.undirected
    baselines = ("majority", "vanilla") if directed else ("majority",)
    base = {name: method_class(name)().predict(labelled.unlabelled()).correct(labelled) for name in baselines}
    steps: dict[str, NDArray[np.float64]] = {"step": many - half} | {
        name: many - correct for name, correct in base.items()
    }
    gains = {name: float(step.mean()) for name, step in steps.items()}
    gains |= {f"{name}_se": float(step.std(ddof=1) / np.sqrt(len(step))) for name, step in steps.items()}
    if vote.weighs_sources:  # the first n responses are those of some sources only
        return gains
    target = max(float(correct.mean()) for correct in base.values())
    return gains | {"enough": float(_samples_to_reach(vote, labelled, target, seed))}


def _samples_to_reach(vote: Method, labelled: LabelledPool, target: float, seed: int) -> int:
    """The least power of two of samples with which it answers as many held-out questions as `target`, or all N."""
    sizes = (2**k for k in range(labelled.n.bit_length()) if 2**k < labelled.n)
    for n in sizes:
        correct = out_of_fold(vote, labelled.first(n), 5, seed=seed)
        if correct is not None and correct.mean() >= target:
            return int(n)
    return labelled.n


def _explained(fitted: Provenance | None, described: str, gains: Mapping[str, float], reserved: int) -> str:
    """Two sentences, or one for a method that was not assessed."""
    if fitted is None:
        return "Not fitted."
    others = f" ({reserved} others reserved)" if reserved else ""
    sentences = [f"Fitted on {fitted.questions - reserved} questions{others} at N = {fitted.n}: {described}."]
    if gains:
        expectations = [_expects(gains), _more(gains)]
        if "enough" in gains:
            expectations.append(_saves(int(gains["enough"]), fitted.n))
        sentences.append(f"{'; '.join(expectations)}.")
    return " ".join(sentences)


def _expects(gains: Mapping[str, float]) -> str:
    gained = [
        f"{100 * gains[name]:+.1f} ± {100 * gains[name + '_se']:.1f} points against {name}"
        for name in ("majority", "vanilla")
        if name in gains
    ]
    return f"On questions it was not fitted on, it gains {' and '.join(gained)} (± standard error)"


def _saves(enough: int, n: int) -> str:
    if enough >= n:
        return f"it needs all {n} samples to do as well as the better of the two with {n}"
    return f"with {enough} samples per question it does as well as the better of the two with {n}"


def _more(gains: Mapping[str, float]) -> str:
    step, error = gains["step"], gains["step_se"]
    change = f"{100 * step:+.1f} ± {100 * error:.1f}"
    if step > max(WORTH, 1.96 * error):
        return f"going from 5/8 of the questions to all gained {change} points, so more are likely to help"
    if step + 1.96 * error < WORTH:
        return f"going from 5/8 of the questions to all gained {change} points, so more would not help"
    return f"going from 5/8 of the questions to all gained {change} points: it is unclear whether more would help"
