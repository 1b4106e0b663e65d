"""Scores from the log-probabilities of tokens: formulas by brute force, tables with lists, saved completions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.tables.computed.token_scores import WINDOW, group_means

RNG = np.random.default_rng(0)
LISTS = [RNG.uniform(1, 20, size).tolist() for size in (1, 5, WINDOW, WINDOW + 1, 3000)]


def table(column: str, lists: list[Any]) -> pl.DataFrame:
    rows = {"question": ["q"] * len(lists), "answer": [str(i) for i in range(len(lists))], column: lists}
    return pl.DataFrame(rows, schema_overrides={column: pl.List(pl.Float32)})


def scores(column: str, lists: list[Any], score: str) -> np.ndarray[Any, Any]:
    return sy.read(table(column, lists), score=score).known_scores


def groups(tokens: list[float]) -> list[float]:
    """Every window of 2,048 tokens, by a plain loop."""
    width = min(WINDOW, len(tokens))
    return [sum(tokens[i : i + width]) / width for i in range(len(tokens) - width + 1)]


BRUTE = {
    "deepconf-lowest": lambda tokens: min(groups(tokens)),
    "deepconf-bottom": lambda tokens: float(np.mean(sorted(groups(tokens))[: max(1, int(0.1 * len(groups(tokens))))])),
    "deepconf-tail": lambda tokens: float(np.mean(tokens[-WINDOW:])),
    "self-certainty": lambda tokens: float(np.mean(tokens)),
}


@pytest.mark.parametrize("name", BRUTE)
def test_a_confidence_score_is_that_of_a_plain_loop(name: str) -> None:
    expected = [(c := BRUTE[name](tokens)) / (1 + c) for tokens in LISTS]
    assert np.allclose(scores("token_confidence", LISTS, name), expected, rtol=1e-5)
    assert np.allclose(scores("c", LISTS, f"{name}(c)"), expected, rtol=1e-5)
    assert np.allclose(scores("c", LISTS, f"1-{name}(c)"), 1 - np.array(expected), rtol=1e-5)


def test_groups_of_a_small_window() -> None:
    assert group_means(np.array([4.0, 2.0, 3.0, 7.0]), 3).tolist() == [3.0, 4.0]


def test_entropy_and_mean_log_probability() -> None:
    lists = [[0.5, 1.5], [], None, [0.25]]
    assert np.allclose(
        scores("token_entropy", lists, "entropy"), [math.exp(-1), np.nan, np.nan, math.exp(-0.25)], equal_nan=True
    )
    logs = [[-0.5, -1.5], [-math.inf, -2.0], [-0.25]]
    assert np.allclose(scores("token_logprobs", logs, "mean-logprob"), np.exp([-1.0, -2.0, -0.25]))


def test_lists_per_token_are_never_the_default_score() -> None:
    rows = table("token_confidence", LISTS).with_columns(prm=pl.lit(0.5))
    assert sy.read(rows).origin.score == "prm"
    with pytest.raises(sy.errors.ScoreError, match="no column of scores"):
        sy.read(table("token_confidence", LISTS))


@pytest.mark.parametrize(
    ("score", "fix"),
    [
        ("deepconf-lowest", "generate --top-logprobs 20"),
        ("entropy", "generate --top-logprobs 20"),
        ("mean-logprob", "self_logprob"),
    ],
)
def test_a_table_without_the_lists_is_refused_with_the_fix(score: str, fix: str) -> None:
    rows = pl.DataFrame({"question": ["q", "q"], "answer": ["1", "2"]})
    with pytest.raises(sy.errors.ColumnError, match=fix):
        sy.read(rows, score=score)
    with pytest.raises(sy.errors.ColumnError, match="lists of one"):
        sy.read(rows.with_columns(x=0.5), score=f"{score}(x)")


def test_saved_completions_with_the_most_likely_tokens_have_the_scores(tmp_path: Path) -> None:
    def token(*logs: float) -> dict[str, Any]:
        return {"token": "a", "logprob": logs[0], "top_logprobs": [{"token": "b", "logprob": log} for log in logs]}

    def choice(i: int, *content: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": f"\\boxed{{{i}}}"}
        return {"index": i, "message": message, "finish_reason": "stop", "logprobs": {"content": list(content)}}

    first, second = choice(0, token(-0.1, -3.0), token(-0.2, -2.0)), choice(1, token(-0.5, -1.0))
    reply = {"object": "chat.completion", "choices": [first, second]}
    request = {"messages": [{"role": "user", "content": "2+2?"}]}
    path = tmp_path / "replies.jsonl"
    path.write_text(json.dumps({"request": request, "response": reply}) + "\n")
    with pytest.warns(sy.errors.SteelyardNote):
        pool = sy.read(path, score="self-certainty")
    confidence = np.array([(0.1 + 3 + 0.2 + 2) / 4, 0.75])
    assert np.allclose(pool.known_scores, confidence / (1 + confidence))
