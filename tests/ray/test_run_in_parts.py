"""A run in parts is scored on demand and voted on by a real Ray cluster of two nodes, as by one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import steelyard as sy
from tests.engine.test_parted_generate import table
from tests.ray.cluster import two_nodes
from tests.runs.runs_parted import in_parts
from tests.sampling.jobs.on_demand import mixed_run, plan_for


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("rule", ["exact", "expected"])
def test_scores_asked_on_demand_and_verdicts_are_those_of_one_process(cluster: Any, tmp_path: Path, rule: str) -> None:
    plan = plan_for(tmp_path / "plan.json", "logprob", expected=True)
    plain = mixed_run(tmp_path / "plain", questions=12)
    run = in_parts(plain, tmp_path / "run", 5)
    alone = sy.score(plain, "logprob", plan=plan, frugal=rule)
    done = sy.score(run, "logprob", plan=plan, frugal=rule, engine=f"ray:{cluster.address}", workers=2)
    assert (done.new, done.not_scored, done.rule) == (alone.new, alone.not_scored, rule)
    assert 0 < done.new < 96
    voted = sy.vote(run, plan, engine=f"ray:{cluster.address}", output=tmp_path / "verdicts", workers=2)
    assert voted.sort("question").equals(sy.vote(plain, plan).sort("question"))
    assert_frame_equal(table(run), table(plain))
