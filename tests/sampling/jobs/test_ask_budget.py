"""`ask` follows plans by plan-budget: as many samples of each LLM as they say, and the scores that they ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.sampling.ask.prepare import samples_to_draw
from steelyard.voting.stopping.rules.fixed import Fixed
from tests.running import Done, steelyard
from tests.sampling.jobs.on_demand import COLUMN, plan_for
from tests.sampling.jobs.test_frugal_score import committee_plan
from tests.sampling.jobs.test_score import questions_asked
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.scored_committees import scored_committee
from tests.upstreams import FaultUpstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
QUESTION = "113 + 1?"
MODELS = {"ant": "fault:knows@100", "bee": "fault:knows@0"}


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path_factory.mktemp("verifier")) as server:
        yield server


def with_samples(path: Path, samples: dict[str, int]) -> Path:
    """Make a plan say how many samples to draw."""
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"samples": samples}))
    return path


def committee(path: Path, samples: dict[str, int]) -> Path:
    table = scored_committee({"ant": 0.7, "bee": 0.6}, {}, questions=40)
    sy.CommitteeVote().fit(sy.read_labelled(table, source="llm", answers="exact", score="none")).save(path)
    return with_samples(path, samples)


def ask(upstream: FaultUpstream, plan: Path, *words: object, names: str = "ant,bee") -> Done:
    chosen = names.split(",")
    urls, models = (
        ",".join(f"{name}={value(name)}" for name in chosen) for value in (lambda _: upstream.url, MODELS.get)
    )
    return steelyard("ask", QUESTION, "--upstream", urls, "--model", models, "--plan", plan, "--json", *words)


def drawn(done: Done) -> dict[str, int]:
    assert done.code == 0, done.err
    return dict(pl.DataFrame(json.loads(done.out)["samples"])["source"].value_counts().iter_rows())


def test_each_llm_is_asked_for_as_many_samples_as_the_plan_buys(upstream: FaultUpstream, tmp_path: Path) -> None:
    plan = committee(tmp_path / "plan.json", {"ant": 3, "bee": 1})
    assert drawn(ask(upstream, plan)) == {"ant": 3, "bee": 1}
    more = ask(upstream, plan, "-n", 2)
    assert drawn(more) == {"ant": 2, "bee": 2}
    assert "other numbers of samples (ant 3, bee 1) than -n 2" in more.err


def test_an_llm_that_the_plan_does_not_buy_is_not_asked(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = ask(upstream, committee(tmp_path / "plan.json", {"ant": 2}))
    assert drawn(done) == {"ant": 2}
    assert "the plan draws no samples of bee" in done.err


def test_an_llm_without_an_upstream_is_one_line(upstream: FaultUpstream, tmp_path: Path) -> None:
    before = len(upstream.entries())
    done = ask(upstream, committee(tmp_path / "plan.json", {"ant": 2, "bee": 1}), names="ant")
    assert done.code == 2
    assert "no upstream is named bee" in done.err
    assert len(upstream.entries()) == before


def test_a_committee_asks_the_verifier_on_demand(
    upstream: FaultUpstream, verifier: FaultVerifier, tmp_path: Path
) -> None:
    plan = with_samples(committee_plan(tmp_path / "plan.json"), {"ant": 2, "bee": 3})
    verifier.ledger.unlink(missing_ok=True)
    at = ("--verifier", COLUMN, "--verifier-upstream", f"{verifier.url}/v1", "--verifier-model", "good")
    done = ask(upstream, plan, *at, "--frugal")
    assert drawn(done) == {"ant": 2, "bee": 3}
    told = json.loads(done.out)
    states = {(one["source"], one["verifier"]) for one in told["samples"]}
    assert ("ant", "read") not in states, "only scores of bee are worth anything to this plan"
    assert told["read_by"]["rule"] == "expected"
    assert told["read_by"]["read"] == len(questions_asked(verifier))


def test_a_plan_for_one_llm_says_how_many_samples_to_draw(tmp_path: Path) -> None:
    voter = sy.load(with_samples(plan_for(tmp_path / "plan.json"), {"": 5}))
    assert samples_to_draw(voter, []) == {"": 5}
    assert samples_to_draw(voter, [], 3) == {"": 3}
    voter.samples_, voter.stopping_ = None, Fixed(6)
    assert samples_to_draw(voter, []) == {"": 6}
    assert samples_to_draw(None, ["a", "b"]) == {"a": 8, "b": 8}
