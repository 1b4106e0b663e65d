"""A verifier with any fault, on one sample or on all: the vote is the one without scores, and the reply says so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from tests.building import labelled
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import gateway
from tests.gateway.outcomes import strict
from tests.gateway.rows import rows
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE, until

PROMPT = "How many?"
ASK = "steelyard/vanilla"
EARLY = "late 2 + 1?"  # a question whose first samples agree
KINDS = ["429", "503", "404", "nan", "infinite", "word", "nothing", "huge", "neither", "no-logprobs", "other-shape"]
KINDS += ["html", "empty", "list", "null", "garbage", "deep", "countless", "cut"]


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path_factory.mktemp("verifier")) as running:
        yield running


def told_of(upstream: FaultUpstream, settings: VerifierSettings | None, **more: Any) -> dict[str, Any]:
    with gateway(upstream.url, method="vanilla", verifier=settings) as running:
        answered = running.chat(PROMPT, ASK, seed=0, **more)
        assert answered.status == 200
        told: dict[str, Any] = strict(answered.body)["steelyard"]
        return told


@pytest.mark.parametrize("kind", rows(KINDS, "503", "nan", "nothing", "other-shape", "html", "cut"))
@pytest.mark.parametrize("all_", [True, False])
@pytest.mark.usefixtures("short_pauses")
def test_the_decision_is_exactly_the_one_without_scores(
    upstream: FaultUpstream, verifier: FaultVerifier, kind: str, all_: bool
) -> None:
    word = "" if all_ else f"?{text_of(PROMPT, 5)[:12]}"
    settings = VerifierSettings("p-true", upstream=f"{verifier.url}/v1", model=f"{kind}{word}", timeout=PATIENCE)
    told = told_of(upstream, settings, steelyard={"ballots": True})
    if kind in ("infinite", "huge") and "verifier" not in told:  # an odd way to say that both words are as likely
        assert all(0 <= vote["score"] <= 1 for vote in told["ballots"])
        return
    answers = [int(sy.extract_answer(text_of(PROMPT, i)) or -1) for i in range(8)]
    verdict = sy.VanillaVote().predict(sy.Pool.from_arrays(question=[0] * 8, answer=answers, scores=[math.nan] * 8))
    assert told["verifier"]["state"] == "degraded"
    assert all(vote["score"] is None for vote in told["ballots"])
    assert (int(told["answer"]), told["share"]) == (verdict.answer[0], verdict.share[0])
    assert (told["confidence"], told["margin"]) == (None, verdict.margin[0])


@pytest.mark.usefixtures("short_pauses")
def test_a_verifier_that_asks_for_a_day_holds_up_no_request(upstream: FaultUpstream, verifier: FaultVerifier) -> None:
    model = f"day?{text_of(PROMPT, 5)[:12]}"
    settings = VerifierSettings("p-true", upstream=f"{verifier.url}/v1", model=model, timeout=PATIENCE)
    assert "86,400 s" in told_of(upstream, settings)["verifier"]["reason"]


def test_a_verifier_that_asks_for_a_day_at_its_first_request_holds_up_no_request_either(
    upstream: FaultUpstream, verifier: FaultVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.gateway.vote.scoring.AGAIN", 0.0)
    settings = VerifierSettings("p-true", upstream=f"{verifier.url}/v1", model="day", timeout=PATIENCE)
    with gateway(upstream.url, method="vanilla", verifier=settings) as running:
        for _ in range(2):
            assert "86,400 s" in running.chat(PROMPT, ASK, seed=0).json["steelyard"]["verifier"]["reason"]
    assert [entry["model"] for entry in verifier.asked()].count("day") == 1, "within the pause it is not asked again"


def test_a_verifier_that_asked_for_a_day_is_tried_again_after_the_longest_pause(
    upstream: FaultUpstream, verifier: FaultVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.gateway.vote.scoring.AGAIN", 0.0)
    monkeypatch.setattr("steelyard.gateway.vote.verifier_settings.LONGEST_PAUSE", 0.5)
    settings = VerifierSettings("p-true", upstream=f"{verifier.url}/v1", model="day-first?1 + 1", timeout=PATIENCE)
    with gateway(upstream.url, method="vanilla", verifier=settings) as running:
        assert "86,400 s" in running.chat(PROMPT, ASK, seed=0).json["steelyard"]["verifier"]["reason"]
        until(lambda: "verifier" not in running.chat(PROMPT, ASK, seed=0).json["steelyard"])


def test_a_verifier_that_is_too_slow_degrades_within_its_time(upstream: FaultUpstream, tmp_path: Path) -> None:
    with fault_verifier(tmp_path, delay=3.0) as slow:
        settings = VerifierSettings("p-true", upstream=f"{slow.url}/v1", model="good", timeout=0.3)
        assert told_of(upstream, settings)["verifier"]["state"] == "degraded"


@pytest.mark.usefixtures("short_pauses")
def test_an_upstream_without_log_probabilities_gives_no_scores_and_not_zeros(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:picky@logprobs+top_logprobs", method="vanilla") as running:
        assert (
            running.send("GET", "/readyz").json["upstreams"]["fault:picky@logprobs+top_logprobs"]["logprobs"] is False
        )
        told = running.chat(PROMPT, ASK, seed=0, steelyard={"ballots": True}).json["steelyard"]
    assert all(vote["score"] is None for vote in told["ballots"])
    assert told["samples"]["failed"] == 0


@pytest.mark.usefixtures("short_pauses")
def test_a_failure_beyond_the_stop_changes_nothing_whichever_sample_comes_first(
    upstream: FaultUpstream, verifier: FaultVerifier, tmp_path: Path
) -> None:
    plan = tmp_path / "frugal.json"
    drawn = sy.simulate(40, 8, seed=1).rename({"score": "p-true"})
    voter = sy.VanillaVote().fit(labelled(drawn, score="p-true"))
    voter.stopping_ = sy.evaluation.rule_class("beta")(cap=8, least=2, threshold=0.6)
    voter.save(plan)
    found = []
    for delays in ("+".join(["0.6", *["0"] * 7]), "+".join([*["0"] * 7, "0.5"])):
        settings = VerifierSettings("p-true", upstream=f"{verifier.url}/v1", model=f"404?{text_of(EARLY, 7)[:20]}")
        model = f"fault:shuffled@{delays}&no-n"
        with gateway(upstream.url, model=model, plan=plan, verifier=settings) as running:
            assert running.chat(EARLY, "steelyard/frugal", seed=0, steelyard={"n": 1}).status == 200
            told = running.chat(EARLY, "steelyard/frugal", seed=0, steelyard={"ballots": True}).json["steelyard"]
        assert "verifier" not in told
        found.append([told[name] for name in ("answer", "confidence", "answers", "ballots", "stopped")])
    assert found[0] == found[1]
    assert len(found[0][3]) < 7
