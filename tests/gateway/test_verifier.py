"""Scores by a verifier: samples weigh by them; a verifier that fails changes nothing but what the reply says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress

import pytest

import steelyard as sy
from steelyard.gateway.vote.scoring import ScoringError, Verified
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.upstreams import read_upstreams
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import Gateway, gateway
from tests.sampling.verifiers.fault_verifier import share
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE

PROMPT = "How many?"
ASK = "steelyard/vanilla"


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path_factory.mktemp("verifier")) as running:
        yield running


def served(upstream: FaultUpstream, verifier: FaultVerifier, model: str) -> AbstractContextManager[Gateway]:
    settings = VerifierSettings("p-true", upstream=f"{verifier.url}/v1", model=model, timeout=PATIENCE)
    return gateway(upstream.url, method="vanilla", verifier=settings)


def test_every_sample_weighs_what_the_verifier_says_of_it(upstream: FaultUpstream, verifier: FaultVerifier) -> None:
    from steelyard.sampling.verifiers.protocols.p_true import render

    with served(upstream, verifier, "good") as running:
        told = running.chat(PROMPT, ASK, seed=0, steelyard={"ballots": True}).json["steelyard"]
    expected = [share(render(PROMPT, [text_of(PROMPT, i)])[0]["content"]) for i in range(8)]
    assert [vote["score"] for vote in told["ballots"]] == pytest.approx(expected)
    assert "verifier" not in told


@pytest.mark.parametrize("model", ["500", "neither", "no-logprobs", "401"])
@pytest.mark.usefixtures("short_pauses")
def test_a_verifier_that_fails_leaves_exactly_the_vote_without_scores(
    upstream: FaultUpstream, verifier: FaultVerifier, model: str
) -> None:
    answers = [int(sy.extract_answer(text_of(PROMPT, i)) or -1) for i in range(8)]
    pool = sy.Pool.from_arrays(question=[0] * 8, answer=answers)
    verdict = sy.MajorityVote().predict(pool)
    with served(upstream, verifier, f"{model}?{text_of(PROMPT, 5)[:12]}") as running:
        answered = running.chat(PROMPT, ASK, seed=0, steelyard={"ballots": True})
        told = answered.json["steelyard"]
        assert answered.status == 200
        assert told["verifier"]["state"] == "degraded"
        assert all(vote["score"] is None for vote in told["ballots"])
        assert (int(told["answer"]), told["share"]) == (verdict.answer[0], verdict.share[0])


def test_a_verifier_that_is_not_there_degrades_and_the_server_starts(upstream: FaultUpstream) -> None:
    settings = VerifierSettings("p-true", upstream="http://127.0.0.1:9/v1", model="m", timeout=PATIENCE)
    with gateway(upstream.url, method="vanilla", verifier=settings) as running:
        told = running.chat(PROMPT, ASK, seed=0).json["steelyard"]
        assert told["verifier"]["state"] == "degraded"
        assert "no connection" in told["verifier"]["reason"]


def test_a_verifier_that_cannot_be_reached_holds_nothing_between_two_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[str] = []
    entered = 0

    @asynccontextmanager
    async def started(_: object, place: str, __: str) -> AsyncIterator[Address]:
        nonlocal entered
        entered += 1
        held.append(place)
        try:
            yield Address(place, "")
        finally:
            held.remove(place)

    async def run() -> None:
        async with AsyncExitStack() as stack:
            settings = VerifierSettings("p-true", upstream="http://127.0.0.1:9/v1", model="m")
            upstreams = read_upstreams("http://127.0.0.1:9/v1", "m", "OPENAI_API_KEY", 8)
            scorer = settings.scorer("p-true", upstreams, Address("http://127.0.0.1:9/v1", ""), stack)
            assert isinstance(scorer, Verified)
            for _ in range(3):
                with suppress(ScoringError):
                    await scorer.connected()
                assert not held

    monkeypatch.setattr("steelyard.gateway.vote.verifier_settings.started", started)
    monkeypatch.setattr("steelyard.gateway.vote.scoring.AGAIN", 0.0)
    monkeypatch.setattr("steelyard.sampling.llm.retry.FIRST", 0.001)
    asyncio.run(run())
    assert entered == 3


def test_the_llm_can_verify_itself(verifier: FaultVerifier) -> None:
    settings = VerifierSettings("p-true")
    with gateway(f"{verifier.url}/v1", model="good", method="vanilla", verifier=settings) as running:
        assert _scores(running)


def test_a_judge_grades_samples_by_the_criteria_of_the_operator(
    upstream: FaultUpstream, verifier: FaultVerifier
) -> None:
    url = f"{verifier.url}/v1"
    settings = VerifierSettings("judge", url, "good", timeout=PATIENCE, criteria="Is short.")
    with gateway(upstream.url, method="vanilla", verifier=settings) as running:
        before = len(verifier.asked())
        assert _scores(running)
    assert all("Criteria:\nIs short.\n" in entry["text"] for entry in verifier.asked()[before:])
    for name, said in {"p-true": "takes no criteria", "judge-pairwise": "use --verifier judge"}.items():
        with pytest.raises(sy.SteelyardError, match=said):
            VerifierSettings(name, url, "good", criteria="Is short.")


def test_a_sample_that_is_not_voted_on_is_not_scored(upstream: FaultUpstream, verifier: FaultVerifier) -> None:
    with served(upstream, verifier, "good") as running:
        before = len(verifier.asked())
        assert running.send("POST", "/v1/responses", {"model": "good", "input": PROMPT}).status == 200
        assert len(verifier.asked()) == before


def _scores(running: Gateway) -> bool:
    told = running.chat(PROMPT, ASK, steelyard={"n": 2, "ballots": True}).json["steelyard"]
    return all(vote["score"] is not None for vote in told["ballots"])
