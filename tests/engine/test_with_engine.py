"""engine= on the public functions: as their commands with --engine, and without it as ever."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import steelyard as sy
from steelyard.engine.process_engine import ProcessEngine
from steelyard.engine.with_engine import Either
from tests.engine.engines import Here
from tests.engine.test_parted_generate import table
from tests.sampling.jobs.generating import ask_for
from tests.upstreams import FaultUpstream

FUNCTIONS = (sy.vote, sy.read_answers, sy.import_table, sy.generate, sy.score, sy.evaluate)


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    rows = [(f"q{i}", f"It is {(i * j) % 3}.", 0.1 + 0.1 * j, str(i % 3)) for i in range(9) for j in range(5)]
    made = pl.DataFrame(rows, schema=["question", "response", "score", "gold"], orient="row")
    made.write_parquet(tmp_path / "table.parquet")
    sy.partition(made, tmp_path / "parts", 4)
    return tmp_path / "parts"


def test_vote_answers_and_import_return_what_one_process_returns(parts: Path, tmp_path: Path) -> None:
    voted = sy.vote(parts, method="vanilla", engine=Here(), output=tmp_path / "verdicts")
    assert voted.equals(sy.vote(parts, method="vanilla"))
    found, alone = sy.read_answers(parts, engine=Here(), output=tmp_path / "answers"), sy.read_answers(parts)
    assert found.table.equals(alone.table)
    assert found.rules.equals(alone.rules)
    assert found.merged.equals(alone.merged)
    assert (found.unreadable, found.undecided, found.costly) == (alone.unreadable, alone.undecided, alone.costly)
    file = tmp_path / "table.parquet"
    rows = sy.import_table(file, engine=Here(), output=tmp_path / "imported", parts=3)
    assert_frame_equal(rows.sort("question", maintain_order=True), sy.import_table(file))


@pytest.mark.usefixtures("key")
def test_generate_and_score_make_the_run_of_one_process(upstream: FaultUpstream, tmp_path: Path) -> None:
    questions = ask_for(tmp_path, 5)
    how: dict[str, Any] = {"upstream": upstream.url, "model": "m", "n": 2}
    sy.generate(questions, tmp_path / "plain", **how)
    made = sy.generate(questions, tmp_path / "run", engine=Here(), parts=3, workers="1:2", **how)
    assert (made.requested, made.held) == (10, 10)
    shares: list[float] = []
    done = sy.score(tmp_path / "run", "logprob", engine=Here(), progress=shares.append)
    assert (done.new, shares[-1]) == (sy.score(tmp_path / "plain", "logprob").new, 1.0)
    assert_frame_equal(table(tmp_path / "run"), table(tmp_path / "plain"))


def test_score_leaves_the_gpus_of_a_worker_to_the_engine_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("steelyard.engine.score.score_parts", lambda *_, **how: asked.append(how))
    for how in ({}, {"gpus_per_worker": 0}, {"gpus_per_worker": 0.5}):
        sy.score("run", "qwen-prm", local=True, engine=Here(), **how)
    assert [how["gpus_per_worker"] for how in asked] == [None, 0, 0.5]


def test_evaluate_has_the_figures_of_one_process(parts: Path) -> None:
    cal, test = sy.read_labelled(sy.simulate(60, 6, seed=4)).split(0.4, seed=1)
    methods = ["logit", sy.VanillaVote(), "pass-at-n"]
    options: dict[str, Any] = {"n": [6, 2], "resamples": 5, "seed": 1, "recalibrate": "full"}
    engine = Here()
    assert sy.evaluate(methods, cal, test, engine=engine, **options).equals(sy.evaluate(methods, cal, test, **options))
    assert engine.asked == ["logit", "vanilla", "pass-at-n", "majority"]
    assert sy.evaluate(["vanilla"], cal, test, n=[6], resamples=2, engine=ProcessEngine(1)).height == 1


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_engine_is_an_option_like_others_and_is_explained(function: Either[..., Any]) -> None:
    given = inspect.signature(function).parameters
    assert given["engine"].default is None
    assert given["workers"].default is None
    assert "With `engine`" in (function.__doc__ or "")


def test_mistakes_are_one_line_with_the_fix(parts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = sy.LogitVote().fit(sy.read_labelled(sy.simulate(60, 8, seed=1)))
    calls: dict[str, Any] = {
        "workers= needs an engine": lambda: sy.vote(parts, workers=2, engine=None),
        "parts= needs an engine": lambda: sy.import_table(parts, parts=2, engine=None),
        "unknown engine 'spark'": lambda: sy.vote(parts, engine="spark", output=out),
        "7 is not an engine": lambda: sy.vote(parts, engine=7, output=out),  # type: ignore[call-overload]
        "name it with output=": lambda: sy.vote(parts, engine=Here()),
        "make one with sy.partition": lambda: sy.vote(sy.simulate(3, 3), engine=Here(), output=out),
        "workers read a plan from a file": lambda: sy.vote(parts, plan, engine=Here(), output=out),
        "workers read files": lambda: sy.import_table(sy.simulate(3, 3), engine=Here(), parts=2, output=out),
        "set how many with parts=": lambda: sy.import_table(parts, engine=Here(), output=out),
        "cannot be combined with engine=": lambda: sy.generate("q", out, engine=Here(), upstream="u", fork="f"),
        "are for tables, and an engine": lambda: sy.score(parts, "logprob", engine=Here(), output=out),
    }
    for said, call in calls.items():
        with pytest.raises(sy.SettingError, match=said.replace("(", r"\(")) as raised:
            call()
        assert "\n" not in str(raised.value)
    assert not out.exists()
