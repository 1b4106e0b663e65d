"""`ask` along a plan's cascade: a server with a ledger, so that it is seen who was asked and who was not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.sampling.ask.sample_stream import Draw
from steelyard.voting.stopping.cascade import Cascade, CascadeOrigin, Step
from tests.running import Done, steelyard
from tests.sampling.jobs.test_cascade_ballot import CASCADE, ODDS, voter
from tests.upstreams import FaultUpstream, fault_upstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
AGREE = {"a": "fault:knows@100", "b": "fault:knows@101", "c": "fault:knows@102"}
DIFFER = AGREE | {"b": "fault:knows@0"}
DEAD = "http://127.0.0.1:9/v1"
PRICES = {"a": 1.0, "b": 2.0, "c": 100.0, "d": 7.0}
PRICED = replace(CASCADE, origin=CascadeOrigin(PRICES))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultUpstream]:
    with fault_upstream(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return saved(tmp_path, PRICED)


def saved(folder: Path, cascade: Cascade) -> Path:
    voter(cascade).save(folder / "plan.json")
    return folder / "plan.json"


def ask(
    server: FaultUpstream, plan: Path, models: dict[str, str], *words: object, dead: str = ""
) -> tuple[Done, dict[str, list[dict[str, Any]]]]:
    """What the command says, and every request that each source had, those that only look at the server too."""
    since = len(server.entries())
    urls = ",".join(f"{name}={DEAD if name in dead else server.url}" for name in models)
    named = ",".join(f"{name}={model}" for name, model in models.items())
    done = steelyard("ask", "113 + 1?", "--upstream", urls, "--model", named, "--plan", plan, *words)
    entries = server.entries()[since:]
    return done, {name: [e for e in entries if e["model"] == model] for name, model in models.items()}


def turns(done: Done) -> dict[str, dict[str, Any]]:
    return {each["source"]: each for each in json.loads(done.out)["cascade"]["sources"]}


def test_where_the_first_agree_the_dear_one_is_never_sent_a_request(server: FaultUpstream, plan: Path) -> None:
    done, asked = ask(server, plan, AGREE, "--json")
    assert done.code == 0, done.err
    assert asked["a"]
    assert asked["b"]
    assert asked["c"] == []
    found, who = json.loads(done.out), turns(done)
    assert (found["answer"], found["method"]) == ("3", "cascade")
    assert [(name, each["sampled"]) for name, each in who.items()] == [("a", True), ("b", True), ("c", False)]
    assert who["c"]["why"].startswith("asked only below 0.8, and it was 0.")
    cost = sum(PRICES[name] * who[name]["tokens"] / 1e6 for name in "ab")
    assert found["cascade"]["cost"] == pytest.approx(cost)
    assert cost > 0


def test_where_the_first_differ_the_dear_one_decides(server: FaultUpstream, plan: Path) -> None:
    done, asked = ask(server, plan, DIFFER, "--json")
    assert all(asked[name] for name in "abc")
    found = json.loads(done.out)
    assert found["answer"] == "3"
    assert {each["source"]: each["weight"] for each in found["samples"]} == {"a": 1.0, "b": 1.0, "c": 4.0}
    assert found["cascade"]["cost"] > PRICES["c"] * turns(done)["c"]["tokens"] / 1e6


def test_it_is_shown_who_was_asked_who_was_not_and_the_cost(server: FaultUpstream, plan: Path) -> None:
    done, _ = ask(server, plan, AGREE)
    assert "Sources asked: ask a; from 0.5 up ask b; below 0.8 ask c" in done.out
    assert "by the prices of the plan" in done.out
    assert "Sources are asked in turn, and weighted, by the cascade of the plan" in done.out
    assert "1 of at most 3: sample 0 of a" in done.err


def test_it_is_the_ballot_of_the_plan_whatever_is_said(server: FaultUpstream, plan: Path) -> None:
    for models in (AGREE, DIFFER, DIFFER | {"c": "fault:knows@0.1"}):
        urls = dict.fromkeys(models, server.url)
        asked = sy.ask("113 + 1?", upstream=urls, model=models, plan=plan)
        ballot = sy.Ballot(plan)
        said = {vote.source: vote.answer for vote in asked.votes}
        while ballot.state.next:
            for name in ballot.state.next:
                ballot.add(said[name], source=name)
        assert asked.stopped == ballot.state
        assert asked.answer == ballot.verdict
        assert asked.confidence == pytest.approx(ballot.state.confidence)
        assert asked.cascade is not None
        assert {turn.source for turn in asked.cascade.turns if turn.sampled} == set(said)


def test_an_upstream_that_is_gone_is_a_source_that_does_not_answer(server: FaultUpstream, plan: Path) -> None:
    done, asked = ask(server, plan, AGREE, "--json", dead="b")
    assert done.code == 0, done.err
    assert "b gave no sample, so the vote leaves it out" in done.err
    assert asked["c"]
    assert json.loads(done.out)["answer"] == "3"
    assert turns(done)["b"]["sampled"]
    assert turns(done)["b"]["why"].startswith("it gave no sample: ")
    assert turns(done)["b"]["cost"] == 0


def test_a_first_source_that_never_answers_leaves_the_others_to_decide(server: FaultUpstream, plan: Path) -> None:
    done, asked = ask(server, plan, AGREE, "--json", dead="a")
    assert done.code == 0, done.err
    assert asked["b"] == []
    assert asked["c"]
    assert json.loads(done.out)["answer"] == "3"
    assert turns(done)["b"]["why"] == "asked only from 0.5 up, and it was 0.000"


def test_an_upstream_that_refuses_every_sample_is_passed_over_too(server: FaultUpstream, plan: Path) -> None:
    done, asked = ask(server, plan, AGREE | {"a": "fault:422?+"}, "--json")
    assert done.code == 0, done.err
    assert asked["c"]
    assert turns(done)["a"]["samples"] == 0


def test_where_nobody_answers_there_is_no_verdict(server: FaultUpstream, plan: Path) -> None:
    done, _ = ask(server, plan, AGREE, dead="abc")
    assert done.code == 2
    assert "gave no sample" in done.err


def test_a_source_of_the_plan_without_an_upstream_is_told_and_passed_over(server: FaultUpstream, plan: Path) -> None:
    models = {name: DIFFER[name] for name in "ab"}
    done, _ = ask(server, plan, models, "--json")
    assert done.code == 0, done.err
    assert "no upstream is named c, which the plan's cascade may ask" in done.err
    assert (turns(done)["c"]["sampled"], turns(done)["c"]["why"]) == (False, "no upstream has its name")


def test_an_upstream_that_the_plan_does_not_know_is_refused(server: FaultUpstream, plan: Path) -> None:
    done, asked = ask(server, plan, {"a": AGREE["a"], "cc": AGREE["c"]})
    assert done.code == 2
    assert "the plan has no source 'cc': did you mean 'c'?" in done.err
    assert not any(asked.values())


def test_an_upstream_that_the_cascade_skips_is_not_asked(server: FaultUpstream, plan: Path) -> None:
    done, asked = ask(server, plan, AGREE | {"d": "fault:knows@103"}, "--json")
    assert asked["d"] == []
    assert turns(done)["d"]["why"] == "the cascade never asks it"
    alone, _ = ask(server, plan, {"d": "fault:knows@103"})
    assert alone.code == 2
    assert "the plan's cascade asks a, b, c, but no upstream has one of these names" in alone.err


def test_a_plan_with_a_cascade_needs_its_upstreams_by_name(server: FaultUpstream, plan: Path) -> None:
    done = steelyard("ask", "1 + 1?", "--upstream", server.url, "--model", "m", "--plan", plan)
    assert done.code == 2
    assert "name the upstreams as it does, --upstream a=URL" in done.err


def test_each_source_is_asked_as_often_as_the_plan_says_and_n_is_told_to_be_unused(
    server: FaultUpstream, tmp_path: Path
) -> None:
    twice = saved(tmp_path, replace(PRICED, samples={"a": 2}))
    done, _ = ask(server, twice, AGREE, "--json", "-n", 5)
    assert [(e["source"], e["sample"]) for e in json.loads(done.out)["samples"]] == [("a", 0), ("b", 0), ("a", 1)]
    assert "says how many samples to draw (a 2, b 1, c 1), so -n 5 is not used" in done.err


def test_who_is_quick_does_not_matter(server: FaultUpstream, tmp_path: Path) -> None:
    together = Cascade((Step(("a", "b")), Step(("c",), high=0.8)), ODDS, None, PRICED.origin)
    plan = saved(tmp_path, together)
    found = []
    with fault_upstream(tmp_path, delay=0.2) as slow:
        for late in ("", "a", "b"):
            urls = {name: slow.url if name == late else server.url for name in DIFFER}
            came: list[Draw] = []
            asked = sy.ask("113 + 1?", upstream=urls, model=DIFFER, plan=plan, progress=came.append)
            assert came[-1].source == "c"
            assert not late or came[1].source == late
            found.append((asked.answer, asked.confidence, asked.cascade, [vote[:2] for vote in asked.votes]))
    assert found[0] == found[1] == found[2]


def test_without_prices_the_cost_is_not_known_and_that_is_said(server: FaultUpstream, tmp_path: Path) -> None:
    done, _ = ask(server, saved(tmp_path, CASCADE), AGREE)
    assert "Cost: unknown" in done.out
