"""Free text compared by the vectors of an embedding server, or by words whenever it fails."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.gateway.caps import Caps
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.vote.embedder import BY_WORDS
from steelyard.gateway.vote.policies import COMPARED
from steelyard.gateway.vote.request_vote import BY_SIMILARITY
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.sampling.llm.prices import Price
from tests.fault_upstream.answers import OPINIONS
from tests.free_text import QUESTION, free_plan
from tests.gateway.gateways import Gateway, gateway, process
from tests.running import steelyard
from tests.sampling.verifiers.embedding_upstream import EmbeddingUpstream, cosine, serving
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE

MEAN = "mean?Ada"  # the response with this word gets the mean direction of all others
BY_VECTORS, BY_COMMON_WORDS = OPINIONS[0], OPINIONS[1]
KEY = "vk-canary-11dd22ee33ff"
pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture
def server() -> Iterator[EmbeddingUpstream]:
    with serving() as upstream:
        yield upstream


def embeddings(server: EmbeddingUpstream, model: str = MEAN, **more: Any) -> VerifierSettings:
    return VerifierSettings("embeddings", upstream=server.url, model=model, timeout=PATIENCE, **more)


def verdict(running: Gateway, **more: Any) -> dict[str, Any]:
    answered = running.chat(QUESTION, seed=0, **more)
    assert answered.status == 200, answered.body
    reply = answered.json
    assert reply["choices"][0]["message"]["content"] == reply["steelyard"]["answer"]
    details: dict[str, Any] = reply["steelyard"]
    return details


def test_the_vectors_decide_and_each_text_is_sent_once(upstream: FaultUpstream, server: EmbeddingUpstream) -> None:
    options = ("--verifier", "embeddings", "--verifier-upstream", server.url, "--verifier-model", MEAN)
    with process(upstream.url, "--method", "majority", *options, model="fault:opinions") as running:
        assert server.requests == []
        details = verdict(running)
        assert Counter(server.texts) == Counter(OPINIONS)
        assert len(server.requests) == 2, "a probe, and all texts in one request"
        stream = running.chat(QUESTION, seed=0, stream=True).events
        assert len(server.requests) == 3
        assert verdict(running, steelyard={"similarity": "tokens"})["answer"] == BY_COMMON_WORDS
        assert len(server.requests) == 3
    assert (details["policy"], details["answer"], details["method"]) == ("similar", BY_VECTORS, "majority")
    assert details["notes"] == [BY_SIMILARITY]
    assert "verifier" not in details
    pieces = [part["choices"][0]["delta"].get("content") or "" for part in stream[:-1] if part["choices"]]
    assert "".join(pieces) == BY_VECTORS


@pytest.mark.parametrize("answers", ["auto", "free"])
def test_the_share_is_the_mean_cosine(upstream: FaultUpstream, server: EmbeddingUpstream, answers: str) -> None:
    with gateway(upstream.url, model="fault:opinions", answers=answers, verifier=embeddings(server, "good")) as running:
        details = verdict(running)
    means = {text: sum(max(0.0, cosine(text, other)) for other in OPINIONS) / 4 for text in OPINIONS}
    assert details["answer"] == max(means, key=lambda text: means[text])
    assert details["share"] == pytest.approx(max(means.values()), abs=1e-3)
    assert (BY_SIMILARITY in details.get("notes", [])) == (answers == "auto")


def test_other_votes_send_nothing_to_the_server(upstream: FaultUpstream, server: EmbeddingUpstream) -> None:
    settings = embeddings(server)
    with gateway(upstream.url, verifier=settings) as running:
        assert running.chat("1 + 1?", seed=0).json["steelyard"]["policy"] == "answer"
    with gateway(upstream.url, model="fault:structured", verifier=settings) as running:
        json_object = {"type": "json_object"}
        assert running.chat(seed=0, response_format=json_object).json["steelyard"]["policy"] == "json"
    with gateway(upstream.url, model="fault:opinions", answers="free", verifier=settings) as running:
        assert verdict(running, steelyard={"n": 1})["policy"] == "similar"
    with gateway(upstream.url, model="fault:declines", verifier=settings) as running:
        assert running.chat(QUESTION, seed=0).json["steelyard"]["policy"] == "text"
    assert server.requests == []


def degraded(running: Gateway, reason: str, **more: Any) -> dict[str, Any]:
    """A vote by words that says why."""
    details = verdict(running, **more)
    assert (details["answer"], details["policy"]) == (BY_COMMON_WORDS, "similar")
    assert BY_WORDS in details["notes"]
    assert details["verifier"]["state"] == "degraded"
    assert reason in details["verifier"]["reason"]
    assert details["usage"]["unknown"]["scores_without_usage"] == 1
    assert (
        'steelyard_verifier_degraded_total{model="steelyard/majority"} 1'
        in running.send("GET", "/metrics").body.decode()
    )
    return details


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("nan?Ada", "the vector contains NaN or infinite values"), ("zero?Ada", "all numbers of the vector are 0"),
        ("longer?Ada", "the vector has 65 numbers instead of 64"), ("few?Ada", "the reply has 3 embeddings for 4"),
        ("400?Ada", "HTTP 400: the input is longer"), ("500?Ada", "HTTP 500"),
        ("words", "cannot embed texts: the reply contains no embeddings"),
    ],
)  # fmt: skip
def test_a_server_that_fails_leaves_the_vote_to_words(
    upstream: FaultUpstream, server: EmbeddingUpstream, model: str, reason: str
) -> None:
    with gateway(upstream.url, model="fault:opinions", verifier=embeddings(server, model)) as running:
        degraded(running, reason)
    assert all(len(texts) == 4 for texts in server.requests[1:] if "capital" not in texts[0]), "no request is split"


def test_a_server_that_is_down_leaves_the_vote_to_words(upstream: FaultUpstream) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        settings = VerifierSettings("embeddings", upstream=url, model="m", timeout=PATIENCE)
        with gateway(upstream.url, model="fault:opinions", verifier=settings) as running:
            details = degraded(running, "cannot embed texts")
    assert url not in details["verifier"]["reason"]


def test_a_server_that_is_late_leaves_the_vote_to_words_within_the_deadline(
    upstream: FaultUpstream, server: EmbeddingUpstream
) -> None:
    server.allow(1)  # the probe
    with gateway(upstream.url, model="fault:opinions", verifier=embeddings(server)) as running:
        degraded(running, "no vectors of the responses within", steelyard={"deadline_s": 3})


def test_tokens_and_cost_are_those_of_a_verifier(
    upstream: FaultUpstream, server: EmbeddingUpstream, tmp_path: Path
) -> None:
    prices, log = {"": Price(1.0, 2.0), "verifier": Price(1000.0, 0.0)}, tmp_path / "log"
    settings = embeddings(server)
    with gateway(upstream.url, model="fault:opinions", verifier=settings, price=prices, access_log=str(log)) as running:
        reply = running.chat(QUESTION, seed=0).json
    tokens = sum(len(text.split()) for text in OPINIONS)
    details = reply["steelyard"]
    counted = {"prompt_tokens": tokens, "total_tokens": tokens, "completion_tokens": 0}
    assert details["usage"]["verifier"] == counted
    assert details["usage"]["unknown"]["scores_without_usage"] == 0
    assert details["cost"]["verifier"] == pytest.approx(tokens / 1000)
    assert reply["usage"]["prompt_tokens"] == details["usage"]["samples"]["prompt_tokens"] + tokens
    line = json.loads(log.read_text().splitlines()[-1])
    assert line["cost"] == pytest.approx(details["cost"]["samples"] + tokens / 1000)


def test_a_cost_cap_covers_the_embeddings_and_allows_no_second_try(
    upstream: FaultUpstream, server: EmbeddingUpstream
) -> None:
    """Samples of 200 tokens cost 0.0032 at most; to embed them costs as much again, and 0.0041 for 256 tokens each."""
    prices, caps = {"": Price(0.0, 2.0), "verifier": Price(2.0, 0.0)}, Caps(cost=0.008)
    verifier, tools = embeddings(server, "500?Ada"), [{"type": "function", "function": {"name": "f"}}]
    with gateway(upstream.url, model="fault:opinions", verifier=verifier, price=prices, caps=caps) as running:
        refused = running.chat(QUESTION, seed=0, max_tokens=200)
        assert (refused.status, refused.error["code"]) == (400, "over_budget")
        for without in ({"steelyard": {"similarity": "tokens"}}, {"tools": tools}):
            assert running.chat(QUESTION, seed=0, max_tokens=200, **without).status == 200
        assert server.requests == []
        degraded(running, "HTTP 500", max_tokens=100)
    assert len(server.requests) == 2, "the probe and one try"


def test_long_responses_are_embedded_up_to_the_limit(upstream: FaultUpstream, server: EmbeddingUpstream) -> None:
    with gateway(
        upstream.url, model="fault:long-opinions", answers="free", verifier=embeddings(server, "good")
    ) as running:
        details = running.chat(QUESTION, seed=0).json["steelyard"]
    assert "verifier" not in details
    assert {len(text) for text in server.texts} == {COMPARED}
    assert len(server.texts) == len(set(server.texts)) == 7, "equal texts are sent once"


@pytest.mark.parametrize("answers", ["auto", "free"])
def test_the_page_ends_with_the_same_vote(upstream: FaultUpstream, server: EmbeddingUpstream, answers: str) -> None:
    body = {"model": "steelyard/majority", "messages": [{"role": "user", "content": QUESTION}], "seed": 0}
    with gateway(upstream.url, model="fault:opinions", n=4, answers=answers, verifier=embeddings(server)) as running:
        decided = running.send("POST", "/page/ask", body).events[-1]["decided"]
    assert decided["text"] == BY_VECTORS
    assert [vote["answer"] for vote in decided["side_by_side"]][1:] == [BY_VECTORS]
    assert len(server.requests) == 2


def test_a_key_that_the_server_echoes_reaches_no_client(
    upstream: FaultUpstream, server: EmbeddingUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERIFIER_KEY", KEY)
    settings = embeddings(server, "echo?Ada", key_env="VERIFIER_KEY")
    with gateway(upstream.url, model="fault:opinions", verifier=settings) as running:
        answered = running.chat(QUESTION, seed=0)
    assert BY_WORDS in answered.json["steelyard"]["notes"]
    assert KEY not in answered.body.decode()
    assert "contains the API key" in answered.json["steelyard"]["verifier"]["reason"]


def test_settings_that_cannot_work_are_refused_at_start(
    upstream: FaultUpstream, server: EmbeddingUpstream, tmp_path: Path
) -> None:
    start = ("serve", "--upstream", upstream.url, "--model", "good", "--port", 0)
    own = ("--verifier", "embeddings", "--verifier-upstream", server.url)
    both = (*own, "--verifier-model", "m")
    mistakes = {
        "name both with --verifier-upstream URL and --verifier-model NAME": own,
        "omit --plan or --verifier embeddings": (*both, "--plan", free_plan(tmp_path / "free.json")),
        "write --answers free, or omit --verifier": (*both, "--answers", "free:characters"),
        "needs the prices of the verifier too": (*both, "--cap", "cost=1", "--token-price", "1,1"),
        "takes no criteria": (*both, "--criteria", __file__),
        "or --verifier embeddings": ("--verifier", "same-meaning", *both[2:]),
    }
    for message, options in mistakes.items():
        done = steelyard(*start, *options)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert message in done.err
    with pytest.raises(sy.SettingError, match="name both with"):
        Configuration(upstream.url, "good", verifier=VerifierSettings("embeddings", model="m"))
    assert server.requests == []
