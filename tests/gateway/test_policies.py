"""Requests that are not questions: structured output, tool calls and prose, each with its policy told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.gateway.caps import Caps
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.messages.chat_request import read_chat
from steelyard.gateway.messages.json_body import read_members
from steelyard.gateway.vote.policies import policy_of
from steelyard.gateway.vote.request_vote import NO_ANSWER
from tests.gateway.gateways import gateway
from tests.upstreams import FaultUpstream

OBJECT = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
LETTERS = dict(zip("0123456789", "ABCDEABCDE", strict=True))
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def test_structured_output_is_voted_on_by_the_parts_that_are_pointed_at(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:structured") as running:
        reply = running.chat(seed=0, response_format=OBJECT, steelyard={"vote_on": ["/answer"]}).json
        told = reply["steelyard"]
        assert (told["policy"], told["answer"]) == ("json", '{"/answer":7}')
        assert [one["votes"] for one in told["answers"]] == [6, 2]
        assert json.loads(reply["choices"][0]["message"]["content"])["answer"] == 7


def test_whole_objects_are_the_same_in_any_order_of_their_keys(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:structured") as running:
        told = running.chat(seed=8, response_format={"type": "json_object"}).json["steelyard"]
        assert told["policy"] == "json"
        assert sum(one["votes"] for one in told["answers"]) == 7  # of 8, one was cut


def test_tool_calls_are_voted_on_by_name_and_arguments_and_come_back_verbatim(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:calling") as running:
        reply = running.chat(seed=0, tools=[TOOL]).json
        told = reply["steelyard"]
        assert told["policy"] == "tools"
        assert [one["votes"] for one in told["answers"]] == [6, 2]
        message = reply["choices"][0]["message"]
        assert message["content"] is None
        (call,) = message["tool_calls"]
        assert call["id"] == "call_1"
        assert call["function"]["arguments"] == '{"city":"Rome","days":3}'
        stream = running.chat(seed=0, tools=[TOOL], stream=True).events
        calls: list[Any] = stream[0]["choices"][0]["delta"]["tool_calls"]
        assert calls == [dict(call, index=0)]


def test_a_sample_that_is_cut_off_before_it_marks_an_answer_casts_no_vote_and_is_counted(
    upstream: FaultUpstream,
) -> None:
    with gateway(upstream.url, model="fault:cut-off") as running:
        told = running.chat("What is 3 + 4?", seed=0).json["steelyard"]
    assert sum(one["votes"] for one in told["answers"]) == 7  # of 8
    assert any(note.startswith("1 of 8 samples were cut off by the length limit") for note in told["notes"])


def test_prose_without_an_answer_goes_back_as_its_best_scored_sample(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:prose") as running:
        reply = running.chat("Write a poem.", seed=0, response_format=OBJECT).json
        told = reply["steelyard"]
        assert (told["policy"], told["answer"], told["answers"]) == ("text", None, [])
        assert NO_ANSWER in told["notes"]
        assert reply["choices"][0]["message"]["content"].startswith("A rose")


@pytest.mark.usefixtures("short_pauses")
def test_algebra_is_compared_by_the_worker_and_other_requests_go_on(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:algebra?algebra") as running:
        told = running.chat("algebra?", seed=0).json["steelyard"]
        assert [one["votes"] for one in told["answers"]] == [8]


@pytest.mark.parametrize(
    ("question", "kind", "read_as"),
    [
        ("Which?\nA) one\nB) two", "auto", "choice"),
        ("How many?", "auto", "math"),
        ("Which?\nA) one\nB) two", "text", "text"),
    ],
)
def test_without_a_plan_the_question_says_whether_letters_are_voted_on(question: str, kind: str, read_as: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": question}]}
    asked = read_chat(read_members(json.dumps(body).encode()), Caps())
    assert policy_of(asked, kind, ()).kind == read_as


def test_a_server_reads_as_its_plan_does_and_refuses_another_kind(upstream: FaultUpstream, tmp_path: Path) -> None:
    letter = pl.col("answer").str.tail(1).replace_strict(LETTERS)
    rows = sy.simulate(60, 8, seed=1).drop_nulls().with_columns(letter)
    labels = rows.with_columns(correct=pl.col("answer") == pl.col("answer").first().over("question"))
    plan = tmp_path / "plan.json"
    sy.LogitVote().fit(sy.read_labelled(labels.rename({"score": "self_logprob"}))).save(plan)
    configuration = Configuration(upstream.url, "good", plan=plan)
    method, _, _ = configuration.voter(configuration.upstreams())
    assert configuration.kind(method) == "choice"
    other = Configuration(upstream.url, "good", plan=plan, answers="math")
    with pytest.raises(sy.PlanError, match="answers of the kind 'choice', not 'math'"):
        other.voter(other.upstreams())
