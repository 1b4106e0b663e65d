"""What every method is: settings in the constructor, learned fields with a trailing underscore,
`fit`, `predict`, `save`. A method says what every response weighs; the tally does the rest.
Those whose weight depends on the score alone also have `weight(score)`.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from steelyard.calibration.mixing import Mix
from steelyard.calibration.shift import remembered
from steelyard.errors import CalibrationError, LabelError, PlanError, ScoreError, SteelyardWarning
from steelyard.plan import Plan, Provenance, write_plan
from steelyard.pool import LabelledPool, Pool
from steelyard.stopping import rule_from
from steelyard.stopping._base import Rule
from steelyard.tally import tally
from steelyard.verdicts import Verdicts

FEWEST_QUESTIONS = 10
ENOUGH_QUESTIONS = 50
APART = ("fitted_on_", "stopping_", "mix_")  # a plan has them beside the learned values

P = TypeVar("P", bound=Pool)
Weigh = Callable[[Any, Pool], NDArray[np.float64]]


@dataclass(repr=False)
class Method(ABC):
    """A rule that turns a pool of responses into verdicts."""

    oracle: ClassVar[bool] = False  # reads the labels of the pool it predicts on
    learns: ClassVar[bool] = False  # needs labels to be fitted
    scored: ClassVar[bool] = True  # reads scores

    fitted_on_: Provenance | None = field(default=None, init=False, repr=False)
    stopping_: Rule | None = field(default=None, init=False, repr=False)  # when to stop sampling
    mix_: Mix | None = field(default=None, init=False, repr=False)  # how several scores are made one

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "weigh" in vars(cls) and "by_response" not in vars(cls):
            cls.by_response = Method.by_response  # type: ignore[method-assign]
        if "weigh" in vars(cls):
            cls.weigh = _of_mixed(cls.weigh)  # type: ignore[method-assign,assignment]

    @classmethod
    def name(cls) -> str:
        """What the user types."""
        return cls.__module__.rsplit(".", 1)[-1].strip("_").replace("_", "-")

    def fit(self, labelled: Pool, *, n: int | None = None) -> Self:
        """Learn from a labelled pool, or from the first n samples of each of its questions.

        Calibrate at the N you deploy: the best offset depends on it, so the plan records it.
        """
        self.check_settings()
        pool = labelled if n is None else labelled.first(n)
        if self.learns:
            _check_calibration(pool)
        if self.scored and np.isnan(pool.known_scores).all():
            raise ScoreError("every score is missing (NaN): choose another score column, or use 'majority'")
        self.mix_ = None
        seen, apart = self._parted(pool)
        if self.learns and pool.parts is not None:
            self.mix_, seen = Mix.fit(cast(LabelledPool, seen)), Mix.held_out(cast(LabelledPool, seen))
        self._learn(seen)
        self.stopping_ = None  # it was chosen for another fit
        self.fitted_on_ = self._provenance(self.mixed(pool))
        if apart is not None:
            self._test(self.mixed(apart))
        return self

    def predict(self, pool: Pool) -> Verdicts:
        """Decide every question of a pool."""
        self.check_pool(pool)
        mixed = self.mixed(pool)
        belief = self._believe(mixed)
        verdicts = self._decide(mixed)
        return verdicts if belief is None else verdicts.believed(belief)

    def decide(self, pool: Pool) -> Verdicts:
        """Decide as `predict` does, without asking how sure the verdicts are."""
        self.check_pool(pool)
        return self._decide(self.mixed(pool))

    def mixed(self, pool: P) -> P:
        """The pool as this method reads it: several scores made one as it learned to, any other as it is."""
        return pool if self.mix_ is None or pool.parts is None else self.mix_.apply(pool)

    def check_pool(self, pool: Pool) -> None:
        """Refuse a pool this method cannot vote on."""
        fitted = self.fitted_on_
        if self.learns and fitted is None:
            raise CalibrationError(
                f"{type(self).__name__} has learned nothing yet: call fit(labelled) or steelyard.load(plan)"
            )
        if self.oracle and not isinstance(pool, LabelledPool):
            raise LabelError(f"{self.name()} is an oracle: it needs the labels of the pool it predicts on")
        if self.scored and fitted and fitted.score and pool.source.score not in (None, fitted.score):
            raise PlanError(
                f"this plan was fitted on the score {fitted.score!r}, the table was read with {pool.source.score!r}: "
                f"read it with score={fitted.score!r}, or fit a plan for {pool.source.score!r}"
            )
        if self.mix_ and pool.source.parts != self.mix_.names:
            has = repr("+".join(pool.source.parts)) if pool.source.parts else "one score"
            raise PlanError(
                f"this plan mixes {'+'.join(self.mix_.names)!r}, the pool has {has}: give it the same scores"
            )

    def save(self, path: str | Path) -> None:
        """Write the fitted method as a plan, plain JSON."""
        stopping = self.stopping_.plain() if self.stopping_ else None
        mix = self.mix_.stored() if self.mix_ else None
        write_plan(Plan(self.name(), self.settings(), self.learned(), self.fitted_on_, stopping, mix), path)

    @classmethod
    def from_plan(cls, plan: Plan) -> Self:
        """Make the method a plan describes; every value must be there and of its kind."""
        blank = cls()
        for what, has, needs in (
            ("settings", plan.settings, blank.settings()),
            ("learned values", plan.learned, blank.learned()),
        ):
            if set(has) != set(needs):
                raise PlanError(f"{cls.name()} has the {what} {sorted(needs)}, this plan {sorted(has)}: fit it again")
        kinds = get_type_hints(cls)
        for key, value in {**plan.settings, **plan.learned}.items():
            missing = value is None and key in plan.learned and plan.fitted_on is not None
            if missing or not _is_a(value, kinds[key]):
                raise PlanError(f"{key} is {value!r:.40}, which {cls.name()} cannot use: fit the plan again")
        method = cls(**plan.settings)
        method.check_settings()
        for key, value in plan.learned.items():
            setattr(method, key, value)
        method.fitted_on_ = plan.fitted_on
        method.stopping_ = None if plan.stopping is None else rule_from(plan.stopping)
        method.mix_ = None if plan.mix is None else Mix.read(plan.mix)
        if plan.fitted_on is not None:
            method.check_learned()
        return method

    def check_settings(self) -> None:
        """Refuse settings that cannot work; fit and load call it, the constructor only stores."""

    def check_learned(self) -> None:
        """Refuse learned values, read from a plan, that do not fit together."""

    def summary(self) -> dict[str, Any]:
        """What a person wants to know of a fitted method, as plain values."""
        fitted = asdict(self.fitted_on_) if self.fitted_on_ else {}
        fitted.pop("evidence", None)
        mix = {"mix": dict(zip(self.mix_.names, self.mix_.shares.tolist(), strict=True))} if self.mix_ else {}
        return {"method": self.name(), **self.settings(), **fitted, **mix}

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        return f"{type(self).__name__}({settings})" + ("" if self.fitted_on_ else ", not fitted" if self.learns else "")

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def learned(self) -> dict[str, Any]:
        """What fit found."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.init and f.name not in APART}

    def _learn(self, pool: Pool) -> None:
        """Set the learned fields; methods that learn nothing leave it."""

    @abstractmethod
    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return the weight of every response [R]; every one is finite."""

    def by_response(self) -> bool:
        """Whether, once fitted, a weight depends on its response alone and so is the same in every subset.

        A class that defines `weigh` says so itself; it does not inherit the answer.
        """
        return False

    def _believe(self, pool: Pool) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Return the probability that each verdict is right [Q], where the method has learned one."""
        return None

    def _parted(self, pool: P) -> tuple[P, P | None]:
        """The questions to learn from, and those kept apart to test on, if any."""
        return pool, None

    def _test(self, apart: Pool) -> None:
        """Look at the questions that were kept apart."""

    def _decide(self, pool: Pool) -> Verdicts:
        return tally(pool, self.weigh(pool))

    def _provenance(self, pool: Pool) -> Provenance:
        accuracy = error = None
        if isinstance(pool, LabelledPool):
            right = self._decide(pool).right(pool)
            accuracy = float(right.mean())
            error = float(right.std(ddof=1) / np.sqrt(len(right))) if len(right) > 1 else None
        score = pool.source.score
        verifier = "+".join(dict.fromkeys(part.split(":")[0] for part in score.split("+"))) if score else None
        evidence = tuple(remembered(pool).tolist()) if self.learns and pool.scores is not None else ()
        about = (pool.n, score, pool.source.llm, verifier, pool.n_questions, pool.n_responses)
        return Provenance(*about, accuracy, error, evidence)


def _of_mixed(weigh: Weigh) -> Weigh:
    """Let a class weigh one score, whatever it is mixed from: it needs to know nothing of that."""

    @wraps(weigh)
    def weigh_mixed(self: Method, pool: Pool) -> NDArray[np.float64]:
        return weigh(self, self.mixed(pool))

    return weigh_mixed


def _is_a(value: Any, kind: Any) -> bool:
    """Whether a value read from JSON can stand in a field annotated with `kind`."""
    if get_args(kind) and get_origin(kind) not in (np.ndarray, dict):
        return any(_is_a(value, part) for part in get_args(kind))
    plain = get_origin(kind) or kind
    if plain is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, plain) and not isinstance(value, bool)


def _check_calibration(pool: Pool) -> None:
    """Refuse a calibration set that cannot teach anything; warn about a small one."""
    if not isinstance(pool, LabelledPool):
        raise LabelError("fitting needs labels: add a column 'correct' (true/false) or 'gold' (the right answer)")
    if pool.n_questions < FEWEST_QUESTIONS:
        raise CalibrationError(
            f"{pool.n_questions} calibration questions are too few: label at least {FEWEST_QUESTIONS}, "
            f"better {ENOUGH_QUESTIONS} or more (the methods 'majority' and 'vanilla' need none)"
        )
    known = pool.readable if pool.scores is None else pool.readable & ~np.isnan(pool.scores)
    if pool.scores is not None and not known.any() and pool.readable.any():
        raise ScoreError("every score is missing (NaN): choose another score column, or use 'majority'")
    correct = int(pool.correct[known].sum())
    incorrect = int(known.sum()) - correct
    if not correct or not incorrect:
        raise CalibrationError(
            f"the calibration set has {correct} correct and {incorrect} incorrect scored responses: "
            "a weight can only be learned from both kinds; check the labels or add questions"
        )
    if pool.n_questions < ENOUGH_QUESTIONS:
        warnings.warn(
            f"{pool.n_questions} calibration questions are few: the fitted weights are uncertain; "
            f"{ENOUGH_QUESTIONS} or more are better",
            SteelyardWarning,
            stacklevel=3,
        )
