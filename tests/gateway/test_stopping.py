"""Early stop: by the plan's rule, in the order of the samples, and the rest is cancelled upstream."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard as sy
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import gateway
from tests.upstreams import FaultUpstream
from tests.waiting import with_more_time


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A majority vote that stops as soon as two samples of at least two agree strongly."""
    path = tmp_path_factory.mktemp("plans") / "frugal.json"
    method = sy.MajorityVote().fit(sy.read_labelled(sy.simulate(40, 8)))
    method.stopping_ = sy.evaluation.rule_class("beta")(cap=8, least=2, threshold=0.7)
    method.save(path)
    return path


def test_the_rule_stops_where_the_ballot_stops_and_the_rest_is_cancelled(upstream: FaultUpstream, plan: Path) -> None:
    prompt = _prompt(plan)
    ballot = sy.Ballot(plan)
    for i in range(8):
        if ballot.add(sy.extract_answer(text_of(prompt, i))).stop:
            break
    with gateway(upstream.url, plan=plan) as running:
        told = running.chat(prompt, "steelyard/frugal", seed=0, steelyard={"ballots": True}).json["steelyard"]
    assert told["samples"]["drawn"] == ballot.state.samples < 8
    assert (told["answer"], told["confidence"]) == (ballot.verdict, ballot.state.confidence)
    assert told["stopped"] == ballot.state.why
    assert told["samples"]["by"] == "fan-out"
    ballot.close()


def test_the_order_of_arrival_changes_nothing(upstream: FaultUpstream, plan: Path) -> None:
    """The first sample is the last to come, and the others wait for it."""
    prompt = f"late {_prompt(plan)}"

    def check(seconds: float) -> None:
        whole = None
        for model in ("good", f"fault:tardy@{seconds}#0?late"):
            with gateway(upstream.url, model=model, plan=plan) as running:
                told = running.chat(prompt, "steelyard/frugal", seed=0, steelyard={"ballots": True}).json["steelyard"]
            counts = told.pop("samples")
            ended = counts["drawn"] + counts["uncounted"] + counts["failed"] + counts["cancelled"]
            assert ended == counts["wanted"] == 8
            told.pop("usage")
            whole = whole or told
            assert told == whole
        assert counts["uncounted"] == 8 - counts["drawn"] > 0

    with_more_time(check, 0.3)


def test_a_replay_that_came_first_is_taken_back_before_the_rule_counts_it(upstream: FaultUpstream, plan: Path) -> None:
    found = []
    for late in ("", "@0.3"):
        with gateway(upstream.url, model=f"fault:replay{late}&no-n", plan=plan) as running:
            found.append(
                running.chat("again?", "steelyard/frugal", seed=0, steelyard={"ballots": True}).json["steelyard"]
            )
    for told in found:
        counts = told.pop("samples")
        assert (counts["drawn"], counts["uncounted"] + counts["failed"] + counts["cancelled"]) == (1, 7)
        assert told.pop("usage")["unknown"]["cancelled_samples"] == counts["cancelled"]
    assert found[0] == found[1]
    assert [vote["answer"] for vote in found[1]["ballots"]][:2] == ["3", None]


def test_what_is_under_way_at_the_stop_is_cancelled_upstream(upstream: FaultUpstream, plan: Path) -> None:
    prompt = _prompt(plan)
    model = "fault:silent#7?now"
    with gateway(upstream.url, model=model, plan=plan) as running:
        told = running.chat(f"now {prompt}", "steelyard/frugal", seed=0).json["steelyard"]
        if told["samples"]["drawn"] == 8:
            pytest.skip("the rule wants all samples of this prompt")
        assert told["samples"]["cancelled"] >= 1
        assert told["usage"]["unknown"]["cancelled_samples"] == told["samples"]["cancelled"]


def _prompt(plan: Path) -> str:
    """A question whose samples agree early."""
    for i in range(100):
        prompts = [f"{i} + 1?", f"late {i} + 1?", f"now {i} + 1?"]
        if all(_samples(plan, prompt) <= 4 for prompt in prompts):
            return prompts[0]
    raise AssertionError("no prompt is decided early")


def _samples(plan: Path, prompt: str) -> int:
    with sy.Ballot(plan) as ballot:
        for i in range(8):
            if ballot.add(sy.extract_answer(text_of(prompt, i))).stop:
                break
        return ballot.state.samples
