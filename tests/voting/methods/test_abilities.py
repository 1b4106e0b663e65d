"""What some methods can do beyond voting is asked of the method, whatever its class."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.voting.methods.base.weight_function import with_offset
from tests.building import Labelled

METHODS = [sy.method_class(name) for name in sy.method_names()]
every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.name)


class CopyOfBest(sy.BestOfN):
    """The same vote, which says that the same formula holds."""

    exact_subsets: ClassVar[str | None] = "best-of-n"


class SilentBest(sy.BestOfN):
    """The same vote, which says nothing."""


@every_method
def test_only_a_method_that_reserved_questions_promises_anything(kind: type[sy.Method], cal: Labelled) -> None:
    with pytest.raises(sy.errors.CalibrationError, match=r"reserve=0\.5"):
        kind().fit(cal).risk_control(0.1)


@every_method
def test_the_votes_with_an_offset_show_their_accuracy_over_it(kind: type[sy.Method], cal: Labelled) -> None:
    vote = with_offset(kind().fit(cal))
    assert (vote is not None) == (kind.name in ("linear", "logit"))
    if vote is not None:
        assert vote.curve_.questions == cal.n_questions
        assert vote.score_at(float(vote.offset_ or 0.0)) == vote.b


def test_a_formula_holds_for_the_class_that_claims_it_and_not_for_what_is_derived(
    cal: Labelled, test: Labelled
) -> None:
    found = sy.evaluation.curves([sy.BestOfN(), CopyOfBest(), SilentBest()], cal, test, n=[4], resamples=3)
    exact, copied, drawn = found.correct[:, 0].T
    assert np.array_equal(exact, copied)
    assert np.array_equal(drawn * 3, np.round(drawn * 3))  # counted in three draws
    assert not np.array_equal(exact, drawn)


def test_a_class_is_left_as_it_was_written() -> None:
    def weigh(self: sy.Method, pool: sy.Pool) -> NDArray[np.float64]:
        return np.full(pool.n_responses, 2.0)

    own: type[sy.Method] = type("OwnVote", (sy.VanillaVote,), {"weigh": weigh})
    assert own.name == "own-vote"
    assert vars(own)["weigh"] is weigh
    assert [name for name, value in vars(own).items() if callable(value) and not name.startswith("__")] == ["weigh"]


def test_a_method_alone_loads_nothing_of_what_wraps_it() -> None:
    code = (
        "import json, sys; from steelyard.voting.methods.majority import MajorityVote; "
        "from steelyard.voting.pools.pool import Pool; "
        "MajorityVote().predict(Pool.from_arrays(question=[0, 0], answer=[4, 4])); "
        "print(json.dumps([name for name in sys.modules if name.startswith('steelyard.voting.')]))"
    )
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert "steelyard.voting.methods.base.method" in loaded
    wrapping = ("fitting", "confidence", "stopping", "on_demand.asking", "methods.base.plan_loading")
    assert [name for name in loaded if name.startswith(tuple(f"steelyard.voting.{part}" for part in wrapping))] == []
