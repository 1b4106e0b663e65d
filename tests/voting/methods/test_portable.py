"""What another machine's last bits may not change: decisions, sentences, and stored figures beyond their tolerance.

`NUDGE=2` runs these and all other tests with another machine's log and exp (tests/nudging.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars import selectors

import steelyard as sy
from docs.reproduction import TOLERANCE, reproduction_page, results
from steelyard.evaluation.paper.run_experiments import Result, portable
from tests.nudging import NAMES, nudge


def moved(result: Result, by: float, seed: int) -> Result:
    """The result of a machine whose figures differ by up to this relative error; equal figures stay equal."""

    def away(values: pl.Series) -> pl.Series:
        part = values.hash(seed).cast(pl.Float64) / 2**63 - 1  # -1 to 1
        return values * (1 + by * part)

    columns = [away(column).alias(column.name) for column in result.rows.select(selectors.float())]
    return replace(result, rows=portable(result.rows.with_columns(columns)))


@pytest.mark.parametrize("seed", range(3))
def test_no_sentence_of_the_page_rests_on_last_bits(seed: int) -> None:
    stored = results()
    assert reproduction_page([moved(result, 1e-12, seed) for result in stored]) == reproduction_page(stored)


@pytest.mark.parametrize("result", results(), ids=lambda result: result.name)
def test_no_decision_rests_on_digits_that_are_not_promised(result: Result) -> None:
    for seed in range(10):
        assert moved(result, TOLERANCE, seed).finding.holds == result.finding.holds


def test_stored_figures_are_those_of_any_machine() -> None:
    for result in results():
        assert portable(result.rows).equals(result.rows), result.name


def test_nudging_moves_inexact_results_by_a_unit_or_two_and_leaves_exact_ones() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    off = (nudge(values, 2).view(np.int64) - values.view(np.int64)).tolist()
    assert set(off) == {-2, -1, 1, 2}
    exact = np.array([0.0, 1.0, -1.0, np.inf, -np.inf])
    assert np.array_equal(nudge(exact, 2), exact)


@pytest.mark.long
def test_a_nudged_process_computes_otherwise_and_finds_the_same() -> None:
    """The votes of a pair of the grid, fitted with another machine's log and exp, in Python and in compiled loops."""
    code = (
        "import tests.nudging, numpy as np, math, steelyard as sy, json\n"
        "cal, test = sy.paper.load_grid('smol-misled', 'prm_hard').first(16).split(0.2, seed=0)\n"
        "from steelyard.paper import KDEVote, PlattVote\n"
        "votes = [vote.fit(cal) for vote in (sy.CalibratedVote(), sy.LogitVote(), KDEVote(), PlattVote())]\n"
        "verdicts = [vote.predict(test) for vote in votes]\n"
        f"raw = [float(getattr(m, name)(0.3)) for name in {NAMES!r} for m in (np, math)]\n"
        "print(json.dumps([raw, votes[0].mean_, [v.answer.tolist() for v in verdicts],"
        " [v.weight_share.tolist() for v in verdicts] + [verdicts[0].confidence.tolist()]]))"
    )
    plain, nudged = (_printed(code, ulps) for ulps in ("", "2"))
    assert all(a != b for a, b in zip(plain[0], nudged[0], strict=True))
    assert plain[1] != nudged[1]  # the fit runs through the compiled likelihood
    assert plain[1] == pytest.approx(nudged[1], rel=TOLERANCE)
    assert plain[2] == nudged[2]
    assert plain[3] == pytest.approx(np.array(nudged[3]), rel=TOLERANCE)


@pytest.mark.parametrize(
    "vote", [sy.paper.OptimalVote(), sy.paper.OptimalCrossfitVote(), sy.paper.KDEVote(reliability="printed")]
)
def test_a_weight_that_is_0_up_to_rounding_is_0(vote: sy.Method) -> None:
    """Equal scores and q_M = 1 / m: both terms vanish, and no rounding may break the tie."""
    answers = np.tile(np.repeat(np.arange(3), 3), 20)
    labels = {"correct": answers == 1, "scores": np.full(180, 0.7)}
    pool = sy.Pool.from_arrays(question=np.repeat(np.arange(20), 9), answer=answers, **labels)
    assert np.array_equal(vote.fit(pool).weigh(pool), np.zeros(180))


def _printed(code: str, ulps: str) -> list[Any]:
    environment = os.environ | {"NUDGE": ulps}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    printed: list[Any] = json.loads(done.stdout)
    return printed
