"""The methods as users call them: `fit`, `predict`, `save`. The method gives the weights, the tally counts them.

Around `weigh` and `_learn` of a class (contract.py), a fit checks the pool, mixes several scores and records what the
pool was; a vote mixes the scores, fills in those that were not requested, and says how sure it is.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, LabelError, SettingError, TableError
from steelyard.voting.methods.base.contract import MethodContract, describes_weigh
from steelyard.voting.methods.base.provenance import Provenance
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.verdicts import Verdicts
from steelyard.voting.tally import tally

if TYPE_CHECKING:
    import altair as alt

    from steelyard.voting.confidence.answer_probabilities import AnswerProbabilities
    from steelyard.voting.confidence.answer_sets import AnswerSetThreshold
    from steelyard.voting.confidence.risk_control import RiskControl
    from steelyard.voting.fitting.mixing import Mix
    from steelyard.voting.on_demand.bounds import AnswerBounds

P = TypeVar("P", bound=Pool)


@dataclass(repr=False, eq=False)
class Method(MethodContract, ABC):
    """A rule that turns a pool of responses into verdicts.

    A custom method defines the weight of every response; fitting, voting and plans come from here.

    >>> import numpy as np, steelyard as sy
    >>> class SquaredVote(sy.Method):
    ...     def weigh(self, pool: sy.Pool) -> np.ndarray:
    ...         return pool.known_scores**2
    >>> pool = sy.Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.5, 0.5, 0.9])
    >>> SquaredVote().predict(pool).answer, SquaredVote.name
    (array([9], dtype=int32), 'squared-vote')
    """

    def fit(self, labelled: Pool, *, n: int | None = None) -> Self:
        """Learn from a labelled pool, or from the first n samples of each of its questions.

        Calibrate at the N you deploy: the best offset depends on it, so the plan records it.
        """
        from steelyard.voting.methods.base.calibration_checks import check_fit, first_samples

        if not isinstance(labelled, Pool):
            raise SettingError(
                f"fit takes a pool, not a {type(labelled).__name__}: read it with steelyard.read_labelled"
            )
        self.check_kinds()
        self.check_settings()
        if labelled.origin.single:
            raise TableError(labelled.origin.single)
        pool = first_samples(labelled, n)
        self.check_similarity(pool)
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
        self.mix_ = self.fitted_on_ = None
        seen = pool
        if self.learns and pool.origin.undirected and pool.scores is not None:
            from steelyard.voting.fitting.direction import learn_direction

            pool, seen = learn_direction(cast(LabelledPool, pool))
        if self.learns and pool.parts is not None:
            from steelyard.voting.fitting.mixing import Mix

            self.mix_ = Mix.fit(cast(LabelledPool, pool))
            seen = self.mix_.crossfit_scores(cast(LabelledPool, pool))
        elif self.scored and not self.learns:
            self.mix_ = self._label_free_mix(pool)
            seen = self.mix_.apply(pool) if self.mix_ else pool
        self._learn(seen)
        self.clear_budget()  # it was chosen for another fit
        self.fitted_on_ = self._provenance(pool)

    def _label_free_mix(self, pool: Pool) -> Mix | None:
        """How a method that learns nothing mixes several scores; None: it reads the mean of their logits."""
        from steelyard.voting.fitting.covariance_mix import equal_mix
        from steelyard.voting.pools.scores import in_unit_range

        return None if pool.parts is None or in_unit_range(pool.parts) else equal_mix(pool)

    def clear_budget(self) -> None:
        """Remove what a plan for a budget adds: when to stop, whom to ask, what to score, how many samples to draw."""
        self.stopping_ = self.cascade_ = self.asking_ = self.samples_ = None

    def predict(self, pool: Pool) -> Verdicts:
        """Decide every question of a pool."""
        self.check_pool(pool)
        verdicts = self._decide(self.mixed(pool))
        p_correct = self._p_correct(verdicts)
        if p_correct is not None and self.asking_ is not None and pool.scored is not None:
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
        return describes_weigh(type(self), "by_response") and self.by_response()

    def answer_probabilities(self, pool: Pool) -> AnswerProbabilities | None:
        """Return how likely each answer of a pool is the correct one, where the method has learned it."""
        return self._answer_probabilities(self.mixed(pool))

    def mixed(self, pool: P) -> P:
        """The pool as this method reads it: several scores made one as it learned to, those not requested filled in."""
        one = self._one_score(pool)
        if one.scored is None:
            return one
        from steelyard.voting.on_demand.asking import filled

        return filled(one, self.asking_)

    def bounds(self, pool: Pool) -> AnswerBounds | None:
        """Bounds on each answer's total over all possible values of the missing scores; None: the method has none."""
        if pool.similarity is not None or not describes_weigh(type(self), "_bounds"):
            return None
        return self._bounds(self._one_score(pool))

    def _one_score(self, pool: P) -> P:
        pool = self._directed(pool)
        one = pool if self.mix_ is None or pool.parts is None else self.mix_.apply(pool)
        if one.scored is None:
            return one
        from steelyard.voting.on_demand.readings import shared_by_copies

        return shared_by_copies(one)

    def check_pool(self, pool: Pool) -> None:
        """Refuse a pool this method cannot vote on."""
        if not isinstance(pool, Pool):
            raise SettingError(f"a vote takes a pool, not a {type(pool).__name__}: read it first")
        fitted = self.fitted_on_
        self.check_similarity(pool)
        self._need_fit()
        if self.oracle and not isinstance(pool, LabelledPool):
            raise LabelError(f"{self.name} is an oracle: it needs the labels of the pool it predicts on")
        directed = self._directed(pool)
        if fitted:
            fitted.check(directed, reads_scores=self.reads_scores())
        if self.mix_:
            self.mix_.check(directed)

    def _need_fit(self) -> None:
        if self.learns and self.fitted_on_ is None:
            raise CalibrationError(f"{type(self).__name__} is not fitted: call fit(labelled) or steelyard.load(plan)")

    def _directed(self, pool: P) -> P:
        """The pool with scores such as length read in the direction that the fit learned."""
        if not pool.origin.undirected or self.fitted_on_ is None or pool.scores is None:
            return pool
        from steelyard.voting.fitting.direction import as_fitted

        return as_fitted(pool, self.fitted_on_.score)

    def check_similarity(self, pool: Pool) -> None:
        """Refuse answers that are similar, not equal, if the method cannot weigh them."""
        if pool.similarity is not None and not self.votes_on_similar:
            raise SettingError(
                f"{self.name} votes only on equal answers, and these are free text: use one of "
                "majority, best-of-n, vanilla, calibrated, committee, consensus"
            )

    def plot(self, *, low: float = 0.0, high: float = 1.0) -> alt.LayerChart:
        """Draw what a score is worth, for scores from `low` to `high`; needs `pip install 'steelyard[report]'`.

        >>> import steelyard as sy
        >>> cal = sy.read_labelled(sy.simulate(200, 8))
        >>> sy.LogitVote().fit(cal).plot().title.text
        'What a score is worth to logit'
        """
        from steelyard.voting.methods.base.weight_function import plot_weights

        self._need_fit()
        learned = f", learned from {self.fitted_on_.questions:,} questions" if self.learns and self.fitted_on_ else ""
        subtitle = f"weight of a response by its score{learned}"
        return plot_weights(self, self.name, self.colour, low=low, high=high, subtitle=subtitle)

    def risk_control(self, risk: float, confidence_level: float = 0.9) -> RiskControl:  # noqa: ARG002
        """Return from which confidence on to answer, so that the error stays within `risk`, if it can be tested."""
        raise CalibrationError(
            f"{self.name} learns no probability, so the risk cannot be controlled: fit a plan with "
            "steelyard fit --method calibrated --set reserve=0.5"
        )

    def answer_sets(self, alpha: float) -> AnswerSetThreshold:  # noqa: ARG002
        """Return which answers are in a set that contains the correct one with probability 1 - alpha."""
        raise CalibrationError(
            f"{self.name} learns no probability of each answer, so it has no answer sets: fit a plan with "
            "steelyard fit --method calibrated --set reserve=0.5"
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted method as a plan (plain JSON), over an existing plan or, with `overwrite`, any file."""
        from steelyard.voting.methods.base.plan import Plan, write_plan

        stopping = self.stopping_.plain() if self.stopping_ else None
        mix = self.mix_.stored() if self.mix_ else None
        cascade = self.cascade_.plain() if self.cascade_ else None
        asking = self.asking_.plain() if self.asking_ else None
        beside = (stopping, mix, self.made_by(), cascade, asking, self.samples_)
        plan = Plan(self.name, self.settings(), self.learned(), self.fitted_on_, *beside)
        write_plan(plan, path, overwrite=overwrite)

    @classmethod
    def made_by(cls) -> str | None:
        """The class that a plan was made by, where it is not Steelyard's own: another may have its name."""
        return None if cls.__module__.startswith("steelyard.") else f"{cls.__module__}.{cls.__qualname__}"

    def summary(self) -> dict[str, Any]:
        """A summary of a fitted method, as plain values."""
        fitted = self.fitted_on_.as_dict() if self.fitted_on_ else {}
        fitted.pop("reference_scores", None)
        mix = {"mix": dict(zip(self.mix_.names, self.mix_.shares.tolist(), strict=True))} if self.mix_ else {}
        return {"method": self.name, **self.settings(), **fitted, **mix}

    def __sklearn_is_fitted__(self) -> bool:
        """Whether it can vote: after a fit, or at once if it learns nothing."""
        return self.fitted_on_ is not None or not self.learns

    def _decide(self, pool: Pool) -> Verdicts:
        return tally(pool, self.weigh(pool), by_score=self.ties_by_score, spread=not self.counts_similar)

    def _provenance(self, fitted_on: Pool) -> Provenance:
        pool = self.mixed(fitted_on)
        correct = self._decide(pool).correct(pool) if isinstance(pool, LabelledPool) else None
        return Provenance.of(pool, correct, references=self.learns)
