"""steelyard generate --top-logprobs: statistics of the most likely tokens, from the server to a score."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.token_statistics import decode
from tests.fault_upstream.asked import entry
from tests.running import steelyard
from tests.sampling.jobs.generating import generate, samples
from tests.upstreams import FaultUpstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")


def confidence(response: str, top: int) -> list[float]:
    """What the server of the tests returns, by a plain loop."""
    words = [entry(word, top) for word in response.split()]
    return [-sum(each["logprob"] for each in word["top_logprobs"]) / top for word in words]


def test_the_statistics_are_stored_and_evaluated(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = generate(upstream, tmp_path, "good-top-1", "-n", 4, "--top-logprobs", 5, count=40)
    assert done.code == 0, done.err
    assert "log-probabilities" not in done.err
    records = samples(tmp_path)
    assert len(records) == 160
    for record in records.values():
        stored = decode(record["token_statistics"])
        assert stored is not None
        assert np.abs(stored[0] - confidence(record["response"], 5)).max() <= 1 / 16
        assert len(record["token_statistics"]) <= 8 * -(-len(stored[0]) // 3)
    table = pl.read_parquet(tmp_path / "run" / "table.parquet")
    assert table.schema["token_confidence"] == pl.List(pl.Float32)
    pool = sy.read(tmp_path / "run", score="deepconf-lowest")
    mean = table["token_confidence"].list.mean().to_numpy()
    assert np.allclose(pool.known_scores, mean / (1 + mean), rtol=1e-5)
    words = ("--method", "majority,platt", "-n", "4", "--json", "--resamples", "2")
    for score in ("deepconf-lowest", "deepconf-tail", "deepconf-bottom", "self-certainty", "entropy"):
        measured = steelyard("evaluate", tmp_path / "run", "--score", score, *words)
        assert measured.code == 0, measured.err
        assert json.loads(measured.out)["score"].startswith(f"{score}(token_")


def test_a_run_is_resumed_with_the_same_statistics(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-top-2", "-n", 2, "--top-logprobs", 5)
    done = generate(upstream, tmp_path, "good-top-2", "-n", 4, "--top-logprobs", 5)
    assert done.code == 0, done.err
    assert all(record["token_statistics"] for record in samples(tmp_path).values())
    other = generate(upstream, tmp_path, "good-top-2", "-n", 4, "--top-logprobs", 10)
    assert other.code == 2
    assert "top_logprobs was 5, now 10" in other.err


@pytest.mark.parametrize(("model", "top"), [("good-top-3", 25), ("fault:no-logprobs", 5)])
def test_a_server_that_does_not_return_them_is_reported_once_and_nothing_is_invented(
    upstream: FaultUpstream, tmp_path: Path, model: str, top: int
) -> None:
    done = generate(upstream, tmp_path, model, "-n", 4, "--fan-out", "--top-logprobs", top)
    assert done.code == 0, done.err
    assert done.err.count(f"did not return the log-probabilities of the {top} most likely tokens of 12 samples") == 1
    assert f"--max-logprobs {top}" in done.err
    assert not any("token_statistics" in record for record in samples(tmp_path).values())
    with pytest.raises(sy.errors.ColumnError, match="generate --top-logprobs 20"):
        sy.read(tmp_path / "run", score="deepconf-lowest")


def test_impossible_settings_are_refused_before_anything_is_sent(upstream: FaultUpstream, tmp_path: Path) -> None:
    few = generate(upstream, tmp_path, "good-top-4", "--top-logprobs", 1)
    assert few.code == 2
    assert "--top-logprobs is between 2 and 100, such as 20" in few.err
    without = generate(upstream, tmp_path, "good-top-4", "--top-logprobs", 5, "--no-logprobs")
    assert without.code == 2
    assert "leave out --no-logprobs" in without.err
    assert not upstream.asked("good-top-4")
