"""A process that has chosen plain loops imports no numba, and votes to the last bit as compiled loops do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting import kernels
from steelyard.voting.kernels.compilation import plain
from tests.building import labelled
from tests.measuring import unmeasured
from tests.voting.kernels.test_kernels import LOOPS

pytestmark = pytest.mark.skipif("NUDGE" in os.environ, reason="compiled loops are nudged in another direction")

SCORE = st.one_of(st.none(), st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 1e-9, 1 - 1e-9]))
ENTRIES = st.lists(st.tuples(st.integers(-1, 4), SCORE), min_size=1, max_size=12)
METHODS = (
    "majority", "vanilla", "best-of-n", "linear", "logit", "platt", "kde", "calibrated", "best-of-majority", "borda",
    "cisc", "filtered", "mob", "soft-self-consistency",
)  # fmt: skip


@pytest.fixture(scope="module")
def voters() -> dict[str, sy.Method]:
    pool = labelled(sy.simulate(40, 8, seed=1))
    return {name: sy.method_class(name)().fit(pool) for name in METHODS}


def pool_of(entries: list[tuple[int, float | None]]) -> sy.Pool:
    answers, scores = zip(*entries, strict=True)
    known = np.array([np.nan if score is None else score for score in scores])
    return sy.Pool.from_arrays(question=np.zeros(len(entries), int), answer=np.array(answers), scores=known)


def figures(voters: dict[str, sy.Method], pool: sy.Pool) -> list[Any]:
    """All that the votes say, with every bit of it."""
    found: list[Any] = []
    for voter in voters.values():
        verdict, chances = voter.predict(pool), voter.answer_probabilities(pool)
        figures = [voter.weigh(pool), verdict.total, verdict.margin, verdict.positive, verdict.confidence]
        figures += [] if chances is None else [chances.p, chances.none]
        found += [verdict.code.tolist(), *(np.asarray(each, np.float64).tobytes().hex() for each in figures)]
    return found


@given(entries=ENTRIES)
def test_plain_and_compiled_loops_agree_to_the_last_bit(
    voters: dict[str, sy.Method], entries: list[tuple[int, float | None]]
) -> None:
    compiled = figures(voters, pool_of(entries))
    with pytest.MonkeyPatch.context() as patched:
        for module, name in LOOPS:
            patched.setattr(module, name, plain(getattr(module, name).py_func))
        assert figures(voters, pool_of(entries)) == compiled


@given(
    sizes=st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=4), answers=st.lists(st.integers(0, 2), min_size=4)
)
def test_plain_and_compiled_tallies_agree_whatever_the_size_of_weights(sizes: list[float], answers: list[int]) -> None:
    pool = sy.Pool.from_arrays(question=np.zeros(len(answers), int), answer=np.array(answers))
    weights = np.resize(sizes, len(answers))
    compiled = sy.evaluation.tally(pool, weights).total.tobytes()
    with pytest.MonkeyPatch.context() as patched:
        for module, name in LOOPS:
            patched.setattr(module, name, plain(getattr(module, name).py_func))
        assert sy.evaluation.tally(pool, weights).total.tobytes() == compiled


def test_a_process_that_chose_plain_loops_votes_the_same_without_numba(
    voters: dict[str, sy.Method], tmp_path: Path
) -> None:
    entries = [(i % 3, 0.1 + 0.09 * i) for i in range(9)]
    plan = tmp_path / "plan.json"
    voters["calibrated"].save(plan)
    code = (
        "import json, sys; from steelyard.foundation.cores import choose_plain_loops; choose_plain_loops()\n"
        "import steelyard as sy\n"
        f"ballot = sy.Ballot({str(plan)!r})\n"
        f"standings = [ballot.add(str(answer), score) for answer, score in {entries!r}]\n"
        "print(json.dumps([[each.verdict, each.confidence] for each in standings] + ['numba' in sys.modules]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=unmeasured(), capture_output=True, text=True, check=True)
    *plain_votes, numba = json.loads(done.stdout)
    with sy.Ballot(plan) as ballot:
        compiled = [ballot.add(str(answer), score) for answer, score in entries]
    assert not numba
    assert plain_votes == [[each.verdict, each.confidence] for each in compiled]
    assert hasattr(kernels.tally, "py_func")  # here they are compiled
