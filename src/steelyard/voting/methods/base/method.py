"""What every method is: settings in the constructor, learned fields with a trailing underscore,
`fit`, `predict`, `save`. A method says what every response weighs; the tally does the rest.
Those whose weight depends on the score alone also have `weight(score)`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, LabelError, PlanError, SettingError, TableError
from steelyard.voting.counting.tally import tally
from steelyard.voting.methods.base.configured import Configured
from steelyard.voting.methods.base.plan import OPTIONAL, Plan, Provenance, write_plan
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.verdicts import Verdicts

if TYPE_CHECKING:
    from steelyard.voting.confidence.answer_probabilities import AnswerProbabilities
    from steelyard.voting.confidence.risk_control import RiskControl
    from steelyard.voting.fitting.mixing import Mix
    from steelyard.voting.on_demand.bounds import AnswerBounds
    from steelyard.voting.on_demand.learned import Asking
    from steelyard.voting.stopping.cascade import Cascade
    from steelyard.voting.stopping.rule import Rule
else:
    Mix = Asking = Cascade = Rule = Any  # loaded where a fit or a plan makes one

P = TypeVar("P", bound=Pool)
BESIDE = ("fitted_on_", "stopping_", "mix_", "cascade_", "asking_")  # a plan has them beside the learned values
OF_ITSELF = ("exact_subsets", "label", "colour")  # what a class says of itself and does not hand down


@dataclass(repr=False, eq=False)
class Method(Configured, ABC):
    """A rule that turns a pool of responses into verdicts.

    A method of one's own says what every response weighs; fitting, voting and plans come from here.

    >>> import numpy as np, steelyard as sy
    >>> class SquaredVote(sy.Method):
    ...     def weigh(self, pool: sy.Pool) -> np.ndarray:
    ...         return pool.known_scores**2
    >>> pool = sy.Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.5, 0.5, 0.9])
    >>> SquaredVote().predict(pool).answer, SquaredVote.name
    (array([9], dtype=int32), 'squared-vote')
    """

    name: ClassVar[str]  # what the user types
    learns: ClassVar[bool] = False  # needs labels to be fitted
    added: ClassVar[tuple[str, ...]] = ()  # fields that its earlier plans do not have: they are as before a fit
    oracle: ClassVar[bool] = False  # reads the labels of the pool it predicts on
    scored: ClassVar[bool] = True  # reads scores
    fits_majority: ClassVar[bool] = False  # where there is nothing to learn, a fit is the majority vote
    weighs_sources: ClassVar[bool] = False  # of use only where a pool has two sources or more
    ties_by_score: ClassVar[bool] = True  # of answers with the same total, the higher total score wins
    exact_subsets: ClassVar[str | None] = None  # the formula of its accuracy (evaluation/exact_subsets.py), if any
    label: ClassVar[str | None] = None  # how a page names it; None: the NAME vote
    colour: ClassVar[str | None] = None  # in every figure, as #0072b2; None: one of those in reserve

    fitted_on_: Provenance | None = field(default=None, init=False, repr=False)
    stopping_: Rule | None = field(default=None, init=False, repr=False)  # when to stop sampling
    mix_: Mix | None = field(default=None, init=False, repr=False)  # how several scores are made one
    cascade_: Cascade | None = field(default=None, init=False, repr=False)  # whom to ask next
    asking_: Asking | None = field(default=None, init=False, repr=False)  # which responses the verifier reads

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):  # a class in a notebook: MyVote is my-vote
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        for word in OF_ITSELF:
            if word not in vars(cls):
                setattr(cls, word, None)

    def fit(self, labelled: Pool, *, n: int | None = None) -> Self:
        """Learn from a labelled pool, or from the first n samples of each of its questions.

        Calibrate at the N you deploy: the best offset depends on it, so the plan records it.
        """
        from steelyard.voting.methods.base.enough import check_fit, first_samples

        if not isinstance(labelled, Pool):
            raise SettingError(
                f"fit takes a pool, not a {type(labelled).__name__}: read it with steelyard.read_labelled"
            )
        self.check_kinds()
        self.check_settings()
        if labelled.origin.single:
            raise TableError(labelled.origin.single)
        pool = first_samples(labelled, n)
        check_fit(pool, learns=self.learns, scored=self.scored, fits_majority=self.fits_majority)
        before = dict(vars(self))
        try:
            self._fit(pool)
        except BaseException:  # what was learned before is whole, or nothing is
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def _fit(self, pool: Pool) -> None:
        self.mix_ = None
        seen = pool
        if self.learns and pool.parts is not None:
            from steelyard.voting.fitting.mixing import Mix

            self.mix_ = Mix.fit(cast(LabelledPool, pool))
            seen = self.mix_.crossfit_scores(cast(LabelledPool, pool))
        self._learn(seen)
        self.stopping_ = self.cascade_ = self.asking_ = None  # they were chosen for another fit
        self.fitted_on_ = self._provenance(pool)

    def predict(self, pool: Pool) -> Verdicts:
        """Decide every question of a pool."""
        self.check_pool(pool)
        verdicts = self._decide(self.mixed(pool))
        p_correct = self._p_correct(verdicts)
        if p_correct is not None and self.asking_ is not None and pool.asked is not None:
            p_correct = self.asking_.recalibrated(verdicts, pool, p_correct)
        return verdicts if p_correct is None else verdicts.with_p_correct(p_correct)

    def decide(self, pool: Pool) -> Verdicts:
        """Decide as `predict` does, without asking how sure the verdicts are."""
        self.check_pool(pool)
        return self._decide(self.mixed(pool))

    def weights(self, pool: Pool) -> NDArray[np.float64]:
        """Return the weight that every response of a pool votes with [R]."""
        return self.weigh(self.mixed(pool))

    def independent_weights(self) -> bool:
        """Whether each weight depends on its response alone, so that it is the same in every subset of a question."""
        return _describes_weigh(type(self), "by_response") and self.by_response()

    def answer_probabilities(self, pool: Pool) -> AnswerProbabilities | None:
        """Return how likely each answer of a pool is the correct one, where the method has learned it."""
        return self._answer_probabilities(self.mixed(pool))

    def mixed(self, pool: P) -> P:
        """The pool as this method reads it: several scores made one as it learned to, those not asked filled in."""
        one = self._one_score(pool)
        if one.asked is None:
            return one
        from steelyard.voting.on_demand.learned import filled

        return filled(one, self.asking_)

    def bounds(self, pool: Pool) -> AnswerBounds | None:
        """Bounds on each answer's total over all possible values of the missing scores; None: the method has none."""
        return self._bounds(self._one_score(pool)) if _describes_weigh(type(self), "_bounds") else None

    def _one_score(self, pool: P) -> P:
        one = pool if self.mix_ is None or pool.parts is None else self.mix_.apply(pool)
        if one.asked is None:
            return one
        from steelyard.voting.on_demand.readings import shared_by_copies

        return shared_by_copies(one)

    def _bounds(self, pool: Pool) -> AnswerBounds | None:  # noqa: ARG002
        """The bounds on a pool with one score per response, for methods that have them."""
        return None

    def check_pool(self, pool: Pool) -> None:
        """Refuse a pool this method cannot vote on."""
        if not isinstance(pool, Pool):
            raise SettingError(f"a vote takes a pool, not a {type(pool).__name__}: read it first")
        fitted = self.fitted_on_
        if self.learns and fitted is None:
            raise CalibrationError(
                f"{type(self).__name__} has learned nothing yet: call fit(labelled) or steelyard.load(plan)"
            )
        if self.oracle and not isinstance(pool, LabelledPool):
            raise LabelError(f"{self.name} is an oracle: it needs the labels of the pool it predicts on")
        if self.reads_scores() and fitted and fitted.score and pool.origin.score not in (None, fitted.score):
            raise PlanError(
                f"this plan was fitted on the score {fitted.score!r}, the table was read with {pool.origin.score!r}: "
                f"read it with score={fitted.score!r}, or fit a plan for {pool.origin.score!r}"
            )
        if fitted and fitted.answers and pool.origin.answers not in (None, fitted.answers):
            raise PlanError(
                f"this plan was fitted on answers of the kind {fitted.answers!r}, the table was read with "
                f"{pool.origin.answers!r}: read it with answers={fitted.answers!r}, or fit a plan for "
                f"{pool.origin.answers!r}"
            )
        if self.mix_ and pool.origin.parts != self.mix_.names:
            has = repr("+".join(pool.origin.parts)) if pool.origin.parts else "one score"
            raise PlanError(
                f"this plan mixes {'+'.join(self.mix_.names)!r}, the pool has {has}: give it the same scores"
            )

    def risk_control(self, risk: float, confidence_level: float = 0.9) -> RiskControl:  # noqa: ARG002
        """Return from which confidence on to answer, so that the error stays within `risk`, if it can be tested."""
        raise CalibrationError(
            f"no probability was learned, as {self.name} learns none, so no risk can be controlled: fit a plan with "
            "steelyard fit --method calibrated --set reserve=0.5"
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted method as a plan, plain JSON; over a plan that is there, with `overwrite` over any file."""
        stopping = self.stopping_.plain() if self.stopping_ else None
        mix = self.mix_.stored() if self.mix_ else None
        cascade = self.cascade_.plain() if self.cascade_ else None
        asking = self.asking_.plain() if self.asking_ else None
        beside = (stopping, mix, self.made_by(), cascade, asking)
        plan = Plan(self.name, self.settings(), self.learned(), self.fitted_on_, *beside)
        write_plan(plan, path, overwrite=overwrite)

    @classmethod
    def made_by(cls) -> str | None:
        """The class that a plan was made by, where it is not Steelyard's own: another may have its name."""
        return None if cls.__module__.startswith("steelyard.") else f"{cls.__module__}.{cls.__qualname__}"

    def learned(self) -> dict[str, Any]:
        """What fit found."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.init and f.name not in BESIDE}

    def summary(self) -> dict[str, Any]:
        """What a person wants to know of a fitted method, as plain values."""
        fitted = asdict(self.fitted_on_) if self.fitted_on_ else {}
        fitted.pop("reference_scores", None)
        fitted = {name: value for name, value in fitted.items() if name not in OPTIONAL or value}
        mix = {"mix": dict(zip(self.mix_.names, self.mix_.shares.tolist(), strict=True))} if self.mix_ else {}
        return {"method": self.name, **self.settings(), **fitted, **mix}

    def __sklearn_is_fitted__(self) -> bool:
        """Whether it can vote: after a fit, or at once if it learns nothing."""
        return self.fitted_on_ is not None or not self.learns

    def check_settings(self) -> None:
        """Refuse settings that cannot work; fit and load call it, the constructor only stores."""

    def check_learned(self) -> None:
        """Refuse learned values, read from a plan, that do not fit together."""

    def _learn(self, pool: Pool) -> None:
        """Set the learned fields; methods that learn nothing leave it."""

    @abstractmethod
    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return the weight of every response [R], all finite, of a pool with one score per response."""

    def reads_scores(self) -> bool:
        """Whether the scores of a pool count, or only break ties."""
        return self.scored

    def heeds_scores(self, pool: Pool) -> Bools:
        """Of which responses of a pool a score can change the weight [R]; a verifier need not read the others."""
        return np.full(pool.n_responses, self.reads_scores())

    def by_response(self) -> bool:
        """Whether, once fitted, `weigh` gives a response the same weight whatever is beside it.

        The answer holds for the `weigh` of the same class, not for one that a subclass defines (`independent_weights`).
        """
        return False

    def _p_correct(self, verdicts: Verdicts) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Return the probability that each verdict is correct [Q], where the method has learned one."""
        return None

    def _answer_probabilities(self, pool: Pool) -> AnswerProbabilities | None:  # noqa: ARG002
        """The probabilities on a pool with one score per response, for methods that have them."""
        return None

    def _decide(self, pool: Pool) -> Verdicts:
        return tally(pool, self.weigh(pool), by_score=self.ties_by_score)

    def _provenance(self, fitted_on: Pool) -> Provenance:
        from steelyard.voting.confidence.drift import reference_scores

        pool = self.mixed(fitted_on)
        accuracy = error = None
        if isinstance(pool, LabelledPool):
            correct = self._decide(pool).correct(pool)
            accuracy = float(correct.mean())
            error = float(correct.std(ddof=1) / np.sqrt(len(correct))) if len(correct) > 1 else None
        score = pool.origin.score
        verifier = "+".join(dict.fromkeys(part.split(":")[0] for part in score.split("+"))) if score else None
        reference = tuple(reference_scores(pool).tolist()) if self.learns and pool.scores is not None else ()
        about = (pool.n, score, pool.origin.llm, verifier, pool.n_questions, pool.n_responses)
        read = (pool.origin.source, pool.origin.answers, dict(pool.origin.rename))
        return Provenance(*about, accuracy, error, reference, *read)


def _describes_weigh(kind: type, name: str) -> bool:
    """Whether `name` is defined in the class that defines `weigh`, or below it: another class's may not hold."""
    return next(name in vars(each) for each in kind.__mro__ if vars(each).keys() & {"weigh", name})
