"""`generate --plan` draws as many samples as a plan was made for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import Done, steelyard
from tests.sampling.jobs.generating import ask_for, generate, samples
from tests.sampling.jobs.test_ask_budget import MODELS, committee, with_samples
from tests.upstreams import FaultUpstream

MODEL = "fault:knows@100"
pytestmark = pytest.mark.usefixtures("key", "short_pauses")


def fitted(path: Path) -> Path:
    """A plan that was fitted on two responses per question."""
    table = pl.DataFrame({"question": [f"q{i // 2}" for i in range(20)], "answer": ["1"] * 20, "gold": ["1"] * 20})
    sy.MajorityVote().fit(sy.read_labelled(table, answers="exact", score="none")).save(path)
    return path


def sampled(upstream: FaultUpstream, folder: Path, *words: object) -> Done:
    return generate(upstream, folder, MODEL, *words, count=2)


def several(upstream: FaultUpstream, folder: Path, *words: object, names: tuple[str, ...] = tuple(MODELS)) -> Done:
    urls = ",".join(f"{name}={upstream.url}" for name in names)
    models = ",".join(f"{name}={MODELS[name]}" for name in names)
    questions = ask_for(folder, 2)
    return steelyard("generate", questions, "--upstream", urls, "--model", models, "-o", folder / "run", *words)


@pytest.mark.parametrize(("bought", "drawn"), [(None, 2), ({"": 5}, 5)])
def test_it_draws_what_was_bought_or_else_the_number_of_the_fit(
    upstream: FaultUpstream, tmp_path: Path, bought: dict[str, int] | None, drawn: int
) -> None:
    plan = fitted(tmp_path / "plan.json")
    done = sampled(upstream, tmp_path, "--plan", with_samples(plan, bought) if bought else plan)
    assert done.code == 0, done.err
    assert sorted(samples(tmp_path)) == [(f"q{q}", i) for q in range(2) for i in range(drawn)]


def test_it_draws_the_same_number_from_every_llm_of_the_plan(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = several(upstream, tmp_path, "--plan", committee(tmp_path / "plan.json", {"ant": 3, "bee": 3}))
    assert done.code == 0, done.err
    assert len(samples(tmp_path)) == 2 * 3 * 2


def test_llms_with_different_numbers_are_added_to_a_run_one_at_a_time(upstream: FaultUpstream, tmp_path: Path) -> None:
    plan = committee(tmp_path / "plan.json", {"ant": 3, "bee": 1})
    for name in ("bee", "ant"):
        done = several(upstream, tmp_path, "--plan", plan, names=(name,))
        assert done.code == 0, done.err
    sources = [record["source"] for record in samples(tmp_path).values()]
    assert (sources.count("ant"), sources.count("bee")) == (2 * 3, 2 * 1)


@pytest.mark.parametrize(
    ("bought", "words", "message"),
    [
        ({"ant": 3, "bee": 1}, [], "one LLM at a time, the fewest first (bee 1, ant 3)"),
        ({"ant": 3, "bee": 3}, ["-n", 3], "leave out -n"),
        ({"cat": 3}, [], "draws samples of cat, not of ant, bee"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused_before_a_run_is_made(
    upstream: FaultUpstream, tmp_path: Path, bought: dict[str, int], words: list[object], message: str
) -> None:
    done = several(upstream, tmp_path, "--plan", committee(tmp_path / "plan.json", bought), *words)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "run").exists()
