"""What the functions that ask a server refuse, in one line and before anything is made or asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from tests.sampling.jobs.generating import ask_for
from tests.upstreams import FaultUpstream

NOWHERE: dict[str, Any] = {"upstream": "http://127.0.0.1:1", "model": "m"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"concurrency": 0}, "--concurrency must be at least 1"),
        ({"concurrency": -1}, "--concurrency must be at least 1"),
        ({"limit": 0}, "--limit must be at least 1"),
        ({"limit": -1}, "--limit must be at least 1"),
        ({"retries": -1}, "--retries must be at least 0"),
        ({"try_timeout": -1}, "--try-timeout must be at least 0.01"),
        ({"try_timeout": float("nan")}, "--try-timeout must be at least 0.01"),
        ({"sample_timeout": 0}, "--sample-timeout must be at least 0.01"),
        ({"max_failures": -1}, "cannot read --max-failures '-1'"),
        ({"max_failures": 0.5}, "cannot read --max-failures '0.5'"),
        ({"prompt": ""}, "no prompt ''"),
        ({"concurrency": "3"}, "concurrency must be a number, not the str '3'"),
        ({"n": "8"}, "n must be a number, not the str '8'"),
        ({"limit": "3"}, "limit must be a number, not the str '3'"),
        ({"try_timeout": "60"}, "try_timeout must be a number, not the str '60'"),
        ({"temperature": "hot"}, "temperature must be a number, not the str 'hot'"),
        ({"answers": ""}, "''"),
    ],
)
def test_generate_refuses_what_cannot_work_and_makes_no_run(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    with pytest.raises(sy.SettingError) as refused:
        sy.generate(ask_for(tmp_path, 3), tmp_path / "run", **NOWHERE, **options)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("allowed", "enough"), [(2, True), (1, False)])
def test_the_failures_allowed_may_be_a_number(
    upstream: FaultUpstream, tmp_path: Path, allowed: int, enough: bool
) -> None:
    questions = ask_for(tmp_path, 3, bad=1)
    options: dict[str, Any] = {"upstream": upstream.url, "model": "fault:422?BAD", "n": 2, "max_failures": allowed}
    if enough:
        assert sy.generate(questions, tmp_path / "run", **options).failed == 2
    else:
        with pytest.raises(sy.UpstreamError, match="more than --max-failures 1;"):
            sy.generate(questions, tmp_path / "run", **options)


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"max_tokens": 0}, sy.SettingError, "--max-tokens is at least 1"),
        ({"plan": ""}, sy.PlanError, "is not a plan"),
        ({"prompt": Path("no-such")}, sy.SettingError, "no prompt 'no-such'"),
    ],
)
def test_ask_takes_nothing_empty_for_nothing_given(
    options: dict[str, Any], kind: type[sy.SteelyardError], says: str
) -> None:
    with pytest.raises(kind, match=says) as refused:
        sy.ask("How many?", **NOWHERE, **options)
    assert "\n" not in str(refused.value)


def test_a_prompt_may_be_a_path(upstream: FaultUpstream, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Say it: {prompt}")
    sy.ask("How many?", upstream=upstream.url, model="own-1", n=1, prompt=tmp_path / "own.txt")
    prompt = tmp_path / "own.txt"
    sy.generate(ask_for(tmp_path, 1), tmp_path / "run", upstream=upstream.url, model="own-2", n=1, prompt=prompt)
    assert [entry["prompt"] for entry in upstream.asked("own-1")] == ["Say it: How many?"]
    assert [entry["prompt"] for entry in upstream.asked("own-2")] == ["Say it: 0 + 1?"]


@pytest.mark.parametrize(("options", "says"), [({"column": ""}, "already has a column ''"), ({"split": ""}, "''")])
def test_score_takes_nothing_empty_for_nothing_given(
    upstream: FaultUpstream, tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    sy.generate(ask_for(tmp_path, 1), tmp_path / "run", upstream=upstream.url, model="empty", n=1)
    with pytest.raises(sy.SettingError, match=says):
        sy.score(tmp_path / "run", "logprob", **options)


def test_numbers_given_as_texts_are_settings_that_cannot_be() -> None:
    pool = sy.read_labelled(sy.simulate(40, 4))
    wrong: dict[str, Callable[[Any], object]] = {
        "budget": lambda text: sy.plan_budget(pool, sy.MajorityVote(), budget=text),
        "share": lambda text: pool.split(text, seed=0),
        "n": lambda text: sy.evaluate(["majority"], pool, pool, n=[text]),
        "resamples": lambda text: sy.evaluate(["majority"], pool, pool, resamples=text),
        "questions": sy.simulate,
    }
    for name, call in wrong.items():
        with pytest.raises(sy.SettingError, match=f"^{name} must be a number, not the str '4'$"):
            call("4")
