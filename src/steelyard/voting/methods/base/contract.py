"""What a method defines: settings, `weigh`, and what it learns. Everything else wraps it from outside (method.py).

Settings are fields of the constructor, learned values fields with a trailing underscore.
Methods whose weight depends on the score alone also have `weight(score)`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.configured import Configured
from steelyard.voting.methods.base.provenance import Provenance
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.verdicts import Verdicts

if TYPE_CHECKING:
    from steelyard.voting.confidence.answer_probabilities import AnswerProbabilities
    from steelyard.voting.fitting.mixing import Mix
    from steelyard.voting.on_demand.asking import Asking
    from steelyard.voting.on_demand.bounds import AnswerBounds
    from steelyard.voting.stopping.cascade import Cascade
    from steelyard.voting.stopping.stopping_rule import Rule
else:
    Mix = Asking = Cascade = Rule = Any  # loaded where a fit or a plan makes one

# A plan has them beside the learned values.
BESIDE = ("fitted_on_", "stopping_", "mix_", "cascade_", "asking_", "samples_")
OF_ITSELF = ("exact_subsets", "label", "colour")  # class attributes that are not inherited


@dataclass(repr=False, eq=False)
class MethodContract(Configured, ABC):
    """What the author of a method writes: `weigh`, and the rest where it differs from what is here."""

    name: ClassVar[str]  # what the user types
    learns: ClassVar[bool] = False  # needs labels to be fitted
    added: ClassVar[tuple[str, ...]] = ()  # fields that its earlier plans do not have: they are as before a fit
    oracle: ClassVar[bool] = False  # reads the labels of the pool it predicts on
    scored: ClassVar[bool] = True  # reads scores
    fits_majority: ClassVar[bool] = False  # where there is nothing to learn, a fit is the majority vote
    weighs_sources: ClassVar[bool] = False  # of use only where a pool has two sources or more
    only_by_name: ClassVar[bool] = False  # evaluate measures it only if it is named; leaderboard always does
    ties_by_score: ClassVar[bool] = True  # of answers with the same total, the higher total score wins
    votes_on_similar: ClassVar[bool] = False  # can vote among answers that are similar (pools/similarity.py)
    counts_similar: ClassVar[bool] = False  # its weights already contain what similar answers add
    exact_subsets: ClassVar[str | None] = None  # the formula of its accuracy (evaluation/subset_accuracy.py), if any
    label: ClassVar[str | None] = None  # how a page names it; None: the NAME vote
    colour: ClassVar[str | None] = None  # in every figure, as #0072b2; None: one of those in reserve

    fitted_on_: Provenance | None = field(default=None, init=False, repr=False)
    stopping_: Rule | None = field(default=None, init=False, repr=False)  # when to stop sampling
    mix_: Mix | None = field(default=None, init=False, repr=False)  # how several scores are made one
    cascade_: Cascade | None = field(default=None, init=False, repr=False)  # whom to ask next
    asking_: Asking | None = field(default=None, init=False, repr=False)  # which responses the verifier reads
    samples_: dict[str, int] | None = field(
        default=None, init=False, repr=False
    )  # to draw, by source ("": the only one)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):  # a class in a notebook: MyVote is my-vote
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        for attribute in OF_ITSELF:
            if attribute not in vars(cls):
                setattr(cls, attribute, None)

    @abstractmethod
    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return the weight of every response [R], all finite, of a pool with one score per response."""

    def _learn(self, pool: Pool) -> None:
        """Set the learned fields; methods that learn nothing leave it."""

    def check_settings(self) -> None:
        """Refuse settings that cannot work; fit and load call it, the constructor only stores."""

    def check_learned(self) -> None:
        """Refuse learned values, read from a plan, that do not fit together."""

    def by_response(self) -> bool:
        """Whether, once fitted, `weigh` gives a response the same weight whatever is beside it.

        The answer holds for the `weigh` of the same class, not for one that a subclass defines (`independent_weights`).
        """
        return False

    def _bounds(self, pool: Pool) -> AnswerBounds | None:  # noqa: ARG002
        """The bounds on a pool with one score per response, for methods that have them."""
        return None

    def reads_scores(self) -> bool:
        """Whether the scores of a pool count, or only break ties."""
        return self.scored

    def uses_scores(self, pool: Pool) -> Bools:
        """Of which responses of a pool a score can change the weight [R]; a verifier need not read the others."""
        return np.full(pool.n_responses, self.reads_scores())

    def _p_correct(self, verdicts: Verdicts) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Return the probability that each verdict is correct [Q], where the method has learned one."""
        return None

    def _answer_probabilities(self, pool: Pool) -> AnswerProbabilities | None:  # noqa: ARG002
        """The probabilities on a pool with one score per response, for methods that have them."""
        return None

    def learned(self) -> dict[str, Any]:
        """What fit found."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.init and f.name not in BESIDE}


def describes_weigh(kind: type, name: str) -> bool:
    """Whether `name` is defined in the class that defines `weigh`, or below it: another class's may not hold."""
    return next(name in vars(base) for base in kind.__mro__ if vars(base).keys() & {"weigh", name})
