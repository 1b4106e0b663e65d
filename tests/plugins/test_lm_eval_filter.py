"""The filter in a real run of lm-evaluation-harness gives the accuracy that Steelyard measures on its samples file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

import steelyard as sy
from steelyard.plugins.lm_eval_filter import UNREADABLE, SteelyardFilter, correct, majority

EXAMPLE = Path(__file__).parents[2] / "examples" / "lm-eval"
REPEATS = 8
SPELLINGS = ["1/2", "0.5", "1/4", "0.25", "1", "1.0", "1/8", "0.125", "3/4", "0.75"]


class Guessing(LM):
    """An LLM that guesses: some spelling of some fraction, the first more often."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        rng = np.random.default_rng(5)
        return [_response(rng) for _ in requests]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError


def _response(rng: np.random.Generator) -> str:
    if rng.random() < 0.1:
        return "I am not sure."
    chosen = SPELLINGS[min(int(rng.exponential(2.5)), len(SPELLINGS) - 1)]
    return f"{'Well, ' * int(rng.integers(4))}I add them up. The answer is {chosen}."


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The results of the example, and its file of samples."""
    folder = tmp_path_factory.mktemp("out")
    tracker = EvaluationTracker(output_path=str(folder))
    evaluated = simple_evaluate(
        Guessing(),
        tasks=["fractions"],
        task_manager=TaskManager(include_path=str(EXAMPLE), include_defaults=False),
        evaluation_tracker=tracker,
        log_samples=True,
        bootstrap_iters=0,
    )
    tracker.save_results_aggregated(results=evaluated, samples=evaluated["samples"])
    tracker.save_results_samples("fractions", evaluated["samples"]["fractions"])
    (file,) = folder.rglob("samples_fractions_*.jsonl")
    return evaluated["results"]["fractions"], file


def test_the_accuracy_is_that_of_the_samples_file(results: tuple[dict[str, Any], Path]) -> None:
    measured, file = results
    pool = sy.read_labelled(file, score="none", answers="math")
    assert (pool.n_questions, pool.n) == (6, REPEATS)
    expected = float(sy.accuracy(sy.MajorityVote().predict(pool), pool))
    assert measured["correct,majority"] == pytest.approx(expected)
    assert 0 < expected < 1
    table = sy.evaluate(["majority"], pool, pool, n=[REPEATS])
    assert measured["correct,majority"] == pytest.approx(table["accuracy"][0])


def test_a_score_of_the_text_decides_as_on_the_samples_file(results: tuple[dict[str, Any], Path]) -> None:
    measured, file = results
    pool = sy.read_labelled(file, score="length", answers="math")
    expected = float(sy.accuracy(sy.VanillaVote().predict(pool), pool))
    assert measured["correct,shortest"] == pytest.approx(expected)


def test_the_filtered_responses_are_the_verdicts(results: tuple[dict[str, Any], Path]) -> None:
    _, file = results
    samples = pl.read_ndjson(file).filter(pl.col("filter") == "majority")
    verdicts = sy.vote(file, method="majority", score="none", answers="math")
    answers = dict(zip(verdicts["question"], verdicts["answer"], strict=True))
    for doc, filtered in samples.select("doc_id", "filtered_resps").iter_rows():
        assert list(filtered) == [answers[str(doc)]]
        assert not Counter(filtered)[UNREADABLE]


def test_a_question_without_readable_answers_is_marked() -> None:
    assert SteelyardFilter(answers="math").apply([["dunno", "who knows"], ["7", "7.0"]], [{}, {}]) == [
        [UNREADABLE],
        ["7"],
    ]


def test_wrong_uses_are_refused_with_the_fix() -> None:
    with pytest.raises(sy.SettingError, match="set repeats"):
        majority([["7"], ["8"]], [{}, {}])
    with pytest.raises(sy.TableError, match="output_type: generate_until"):
        majority([[-1.0, -2.0]], [{}])  # type: ignore[list-item]
    with pytest.raises(sy.TableError, match="take_first"):
        correct(references=["7"], predictions=[["7"]])
