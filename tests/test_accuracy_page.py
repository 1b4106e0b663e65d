"""docs/accuracy.md: the page is made of the stored figures, and these are what the code measures."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from docs.accuracy.__main__ import HERE, summed, text
from docs.accuracy.cells import SEEDS, Source, split
from docs.accuracy.gains import gains

STORED = pl.read_csv(HERE / "gains.csv")


def test_the_page_is_made_of_the_stored_figures() -> None:
    assert (Path(HERE).parent / "accuracy.md").read_text() == text()


@pytest.mark.parametrize("name", ["smol-misled/prm_hard", "tiny-scratch/orm_token"])
def test_the_stored_figures_are_measured_again(name: str) -> None:
    llm, verifier = name.split("/")
    methods = ("majority", "best-of-n", "vanilla", "platt", "calibrated")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        again = summed(gains([Source("grid", name, sy.load_grid(llm, verifier))], methods))
    stored = STORED.filter(pl.col("pool") == name, pl.col("group") == "grid", pl.col("method").is_in(methods))
    columns = ["calibration", "method", "gain", "better", "ece", "below", "cells"]
    for fresh, kept in zip(again[columns].iter_rows(), stored[columns].iter_rows(), strict=True):
        assert fresh[:2] == kept[:2]
        assert fresh[2:] == pytest.approx(kept[2:], abs=2e-6)


def test_nothing_is_calibrated_on_a_test_question() -> None:
    pool = sy.load_grid("smol-much", "probe")
    for seed in SEEDS:
        test, by_size = split(pool, seed)
        assert [cal.n_questions for cal in by_size.values()] == [50, 100, 200, 400]
        assert not set(test.questions) & set(by_size[400].questions)
        assert all(set(cal.questions) <= set(by_size[400].questions) for cal in by_size.values())
