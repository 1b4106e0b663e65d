"""The vote: what comes back is one of the samples, decided as offline, and says how it came about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import steelyard as sy
from steelyard.gateway.vote.request_vote import ONE_SAMPLE
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import VOTE, Gateway, gateway
from tests.upstreams import FaultUpstream

PROMPT = "What is 3 + 4?"


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url) as running:
        yield running


def test_the_reply_is_one_original_response_of_the_winning_answer(served: Gateway) -> None:
    reply = served.chat(PROMPT, seed=5).json
    texts = [text_of(PROMPT, 5 + i) for i in range(8)]
    content = reply["choices"][0]["message"]["content"]
    told = reply["steelyard"]
    assert content in texts
    assert sy.extract_answer(content) == told["answer"]
    assert told["answers"][0]["votes"] == sum(sy.extract_answer(text) == told["answer"] for text in texts)
    assert (reply["object"], reply["model"]) == ("chat.completion", VOTE)
    assert reply["choices"][0]["logprobs"] is None
    assert told["samples"] == {
        "wanted": 8, "drawn": 8, "uncounted": 0, "failed": 0, "cancelled": 0, "requests": 1, "by": "n",
    }  # fmt: skip


def test_the_verdict_is_to_the_last_bit_that_of_ask(served: Gateway, upstream: FaultUpstream) -> None:
    asked = sy.ask(PROMPT, upstream=upstream.url, model="good", n=8, prompt="plain", seed=3)
    told = served.chat(PROMPT, seed=3, steelyard={"method": asked.method, "ballots": True}).json["steelyard"]
    assert (told["answer"], told["confidence"]) == (asked.answer, asked.confidence)
    assert (told["share"], told["margin"]) == (asked.share, asked.margin)
    assert [tuple(vote.values()) for vote in told["ballots"]] == [tuple(vote) for vote in asked.votes]


@pytest.mark.parametrize("method", ["majority", "vanilla"])
def test_four_equal_votes_are_a_share_of_one_and_no_confidence(upstream: FaultUpstream, method: str) -> None:
    with gateway(upstream.url, model="fault:lines?boxed", method=method) as running:
        told = running.chat("\\boxed{7}", model=f"steelyard/{method}", steelyard={"n": 4}).json["steelyard"]
    assert (told["answers"][0]["votes"], told["share"]) == (4, 1.0)
    assert told["confidence"] is None
    assert told["none_correct"] is None


def test_a_risk_needs_a_plan_that_has_learned_a_probability(served: Gateway) -> None:
    refused = served.chat(PROMPT, steelyard={"risk": 0.1})
    assert (refused.status, refused.error["param"]) == (400, "steelyard.risk")
    assert "majority learns no probability" in refused.error["message"]
    assert "fit a plan" in refused.error["message"]


def test_samples_have_seeds_one_after_the_other(served: Gateway, upstream: FaultUpstream) -> None:
    served.chat("seeds?", seed=40, steelyard={"n": 3})
    assert {seed for prompt, seed in upstream.samples("good") if prompt == "seeds?"} == {40, 41, 42}


def test_usage_is_all_that_was_billed(served: Gateway) -> None:
    reply = served.chat("usage?", seed=0, steelyard={"n": 4}).json
    words = sum(len(text_of("usage?", i).split()) for i in range(4))
    assert reply["usage"] == {"prompt_tokens": 7, "completion_tokens": words, "total_tokens": 7 + words}


def test_n_of_the_client_is_the_number_of_answers_that_come_back(served: Gateway) -> None:
    reply = served.chat(PROMPT, seed=5, n=3).json
    answers = [sy.extract_answer(choice["message"]["content"]) for choice in reply["choices"]]
    assert answers == [one["answer"] for one in reply["steelyard"]["answers"][:3]]
    assert [choice["index"] for choice in reply["choices"]] == list(range(len(answers)))


def test_temperature_zero_draws_one_sample_and_says_so(served: Gateway) -> None:
    told = served.chat("cold?", temperature=0).json["steelyard"]
    assert told["samples"]["drawn"] == 1
    assert "temperature 0" in told["notes"][0]


def test_one_sample_is_no_vote_and_the_reply_says_so(served: Gateway) -> None:
    assert served.chat("one?", steelyard={"n": 1}).json["steelyard"]["notes"] == [ONE_SAMPLE]
    streamed = served.chat("one?", steelyard={"n": 1}, stream=True).events
    assert [chunk["steelyard"]["notes"] for chunk in streamed[:-1] if "steelyard" in chunk] == [[ONE_SAMPLE]]
    assert "notes" not in served.chat("two?", steelyard={"n": 2}).json["steelyard"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_of_the_upstreams_own_model_says_that_there_was_no_vote(served: Gateway, stream: bool) -> None:
    assert "no vote" in served.chat("own?", "good", stream=stream).headers["x-steelyard-note"]
    assert "x-steelyard-note" not in served.chat("own?", stream=stream).headers


def test_unknown_fields_go_on_as_they_were_written_and_ours_do_not(served: Gateway, upstream: FaultUpstream) -> None:
    body = (
        b'{"model": "steelyard/majority", "messages": [{"role": "user", "content": "fields?"}], "top_k": 5.0, '
        b'"guided": {"a":  [1e2, "\\u00e9"]}, "steelyard": {"n": 2}}'
    )
    assert served.send("POST", "/v1/chat/completions", body).status == 200
    sent = [entry["written"] for entry in upstream.entries() if entry["prompt"] == "fields?"]
    assert len(sent) == 1
    assert '"top_k": 5.0' in sent[0]
    assert '"guided": {"a":  [1e2, "\\u00e9"]}' in sent[0]
    assert "steelyard" not in sent[0]


def test_log_probabilities_come_back_only_where_they_were_asked_for(served: Gateway) -> None:
    reply = served.chat(PROMPT, seed=5, logprobs=True).json
    assert reply["choices"][0]["logprobs"]["content"]


def test_a_vote_as_a_stream_says_the_same_as_one_without(served: Gateway) -> None:
    whole = served.chat(PROMPT, seed=5).json
    stream = served.chat(PROMPT, seed=5, stream=True, stream_options={"include_usage": True})
    assert stream.headers["content-type"] == "text/event-stream"
    *chunks, last, done = stream.events
    assert done == "[DONE]"
    assert (last["choices"], last["usage"]) == ([], whole["usage"])
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert all(chunk["usage"] is None and chunk["object"] == "chat.completion.chunk" for chunk in chunks)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content") or "" for delta in deltas) == whole["choices"][0]["message"]["content"]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert chunks[-1]["steelyard"] == whole["steelyard"]


def test_a_stream_that_is_not_asked_for_its_usage_has_none(served: Gateway) -> None:
    events = served.chat(PROMPT, stream=True).events
    assert not any("usage" in chunk for chunk in events[:-1])


def test_progress_tells_every_sample_of_a_stream(served: Gateway) -> None:
    events = served.chat(PROMPT, seed=5, stream=True, steelyard={"progress": True, "n": 4}).events
    told = [chunk["steelyard"] for chunk in events[:-1] if not chunk["choices"]]
    assert sorted(each["sample"] for each in told) == [0, 1, 2, 3]
    assert {each["text"] for each in told} == {text_of(PROMPT, 5 + i) for i in range(4)}
    assert len({chunk["id"] for chunk in events[:-1]}) == 1
