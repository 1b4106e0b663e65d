"""Methods that are measured one by one have the figures they have together."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.engine.evaluate import EvaluateOrder, evaluate_methods
from steelyard.engine.evaluate import _split as read_and_split
from steelyard.evaluation.method_tables import confidence_table
from steelyard.foundation.errors import RunError
from tests.engine.engines import Here
from tests.running import steelyard

READING = (("score", None), ("source", None), ("rename", ()), ("layout", None), ("answers", "math"))


@pytest.mark.parametrize("methods", [["logit", "vanilla", "pass-at-n"], ["majority", "linear"]])
def test_figures_are_bit_for_bit_those_of_one_process(tmp_path: Path, methods: list[str]) -> None:
    table = sy.simulate(60, 6, seed=4)
    table.write_parquet(tmp_path / "t.parquet")
    order = EvaluateOrder((str(tmp_path / "t.parquet"),), READING, 0.4, False, (6, 2), 5, 1)
    engine = Here()
    found, trust = evaluate_methods(methods, order, engine)
    cal, test = sy.read_labelled(table).split(0.4, seed=1)
    assert found.equals(sy.evaluate(methods, cal, test, n=[6, 2], resamples=5, seed=1))
    assert trust.equals(confidence_table(methods, cal, test))
    assert sorted(engine.asked) == sorted({*methods, "majority"})


def test_a_method_that_cannot_be_measured_is_named(tmp_path: Path) -> None:
    sy.simulate(6, 6, seed=4).with_columns(correct=pl.lit(False)).write_parquet(tmp_path / "t.parquet")
    order = EvaluateOrder((str(tmp_path / "t.parquet"),), READING, 0.4, False, None, 5, 1)
    with pytest.raises(RunError, match="logit cannot be measured: "):
        evaluate_methods(["logit"], order, Here())


def test_the_command_prints_the_same_with_an_engine(tmp_path: Path) -> None:
    sy.simulate(40, 4, seed=4).write_parquet(tmp_path / "t.parquet")
    words = ("evaluate", tmp_path / "t.parquet", "--method", "majority", "--json", "-n", "2,4")
    alone, done = steelyard(*words), steelyard(*words, "--engine", "processes:1")
    assert done.code == 0, done.err
    assert json.loads(done.out) == json.loads(alone.out)


def test_a_method_that_is_named_twice_is_told_once(tmp_path: Path) -> None:
    sy.simulate(30, 4, seed=4).write_parquet(tmp_path / "t.parquet")
    order = EvaluateOrder((str(tmp_path / "t.parquet"),), READING, 0.4, False, (4,), 2, 1)
    found, trust = evaluate_methods(["vanilla", "vanilla"], order, Here())
    assert (found["method"].to_list(), trust["method"].to_list()) == (["vanilla"], [])


def test_rows_that_change_between_two_workers_end_the_work(tmp_path: Path) -> None:
    class Changing(Here):
        """The table is another one after the first method."""

        def run(self, *given: Any, **options: Any) -> Generator[Any]:
            for each in super().run(*given, **options):
                yield each
                sy.simulate(30, 4, seed=5).write_parquet(tmp_path / "t.parquet")
                read_and_split.cache_clear()

    sy.simulate(30, 4, seed=4).write_parquet(tmp_path / "t.parquet")
    order = EvaluateOrder((str(tmp_path / "t.parquet"),), READING, 0.4, False, (4,), 2, 1)
    with pytest.raises(RunError, match="the workers have not read the same rows"):
        evaluate_methods(["vanilla"], order, Changing())
