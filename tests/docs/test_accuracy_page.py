"""docs/accuracy.md: the page is made of the stored figures, and these are what the code measures."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from docs.accuracy.__main__ import HERE, text
from docs.accuracy.cells import SEEDS, Source, split
from docs.accuracy.gains import averaged, gains, summed
from docs.accuracy.trust import promised, trusted

STORED = pl.read_csv(HERE / "gains.csv")


def test_the_page_is_made_of_the_stored_figures() -> None:
    assert (Path(HERE).parent / "accuracy.md").read_text() == text()


@pytest.mark.parametrize(
    "name", ["smol-misled/prm_hard", pytest.param("tiny-scratch/orm_token", marks=pytest.mark.long)]
)
def test_the_stored_figures_are_measured_again(name: str) -> None:
    llm, verifier = name.split("/")
    methods = ("majority", "best-of-n", "vanilla", "platt", "calibrated")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        again = summed(gains([Source("grid", name, sy.paper.load_grid(llm, verifier))], methods))
    stored = STORED.filter(pl.col("pool") == name, pl.col("group") == "grid", pl.col("method").is_in(methods))
    columns = ["calibration", "method", "gain", "better", "below", "cells"]
    for fresh, kept in zip(again[columns].iter_rows(), stored[columns].iter_rows(), strict=True):
        assert fresh[:2] == kept[:2]
        assert fresh[2:] == pytest.approx(kept[2:], abs=2e-6)


@pytest.mark.long
def test_the_stored_confidence_and_promises_are_measured_again() -> None:
    name = "smol-misled/prm_soft"
    pool = sy.paper.load_grid(*name.split("/"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        again = {**trusted(pool, 200), **promised(pool)}
    trust = pl.read_csv(HERE / "trust.csv").filter(pair=name, calibration=200).row(0, named=True)
    promises = pl.read_csv(HERE / "promises.csv").filter(pair=name).row(0, named=True)
    for key, fresh in again.items():
        assert fresh == pytest.approx((trust | promises)[key], abs=2e-6)


def test_standard_errors_are_over_questions_not_over_pools() -> None:
    rng = np.random.default_rng(0)
    same = rng.integers(-1, 2, 100).astype(float)
    rows = [
        {"group": "grid", "pool": str(i), "seed": 0, "calibration": 50, "method": "m", "differences": same}
        for i in range(9)
    ]
    found = averaged(pl.DataFrame(rows)).row(0, named=True)
    assert found["gain"] == pytest.approx(same.mean())
    assert found["gain_se"] == pytest.approx(same.std(ddof=1) / 10)


def test_nothing_is_calibrated_on_a_test_question() -> None:
    pool = sy.paper.load_grid("smol-much", "probe")
    for seed in SEEDS:
        test, by_size = split(pool, seed)
        assert [cal.n_questions for cal in by_size.values()] == [50, 100, 200, 400]
        assert not set(test.questions) & set(by_size[400].questions)
        assert all(set(cal.questions) <= set(by_size[400].questions) for cal in by_size.values())
