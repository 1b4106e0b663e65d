"""The provider in the real client of LiteLLM: it samples through LiteLLM and decides as `steelyard vote` would."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import litellm
import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import PlanError, SettingError
from steelyard.plugins.litellm_provider import Steelyard
from tests.building import labelled
from tests.committees import committee, pool
from tests.fault_upstream.asked import text_of
from tests.plugins.litellm.conftest import KEY, Complete
from tests.upstreams import ROOT, FaultUpstream

PAGE = ROOT / "docs" / "plugins.md"
N = 8
PROMPT = "3 + 4?"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """The samples that the upstream gives, as a run stores them."""
    texts = [text_of(PROMPT, seed) for seed in range(N)]
    means = [sum(-0.1 * (1 + len(token) % 3) for token in text.split()) / len(text.split()) for text in texts]
    return pl.DataFrame({"question": PROMPT, "response": texts, "self_logprob": [math.exp(mean) for mean in means]})


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan that weighs by the log-probabilities of the samples."""
    drawn = sy.simulate(40, N, seed=1).rename({"score": "self_logprob"})
    sy.method_class("calibrated")().fit(labelled(drawn, score="self_logprob")).save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


def test_the_example_of_the_page_prints_the_vote(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = re.search(r"<!-- integration litellm -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block
    monkeypatch.setenv("OPENAI_BASE_URL", upstream.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    exec(compile(block[1], str(PAGE), "exec"), {})
    assert text_of("What is 3 + 4?", 0) in capsys.readouterr().out  # without seeds every sample is the same
    assert len(upstream.asked("gpt-5-mini")) == N


def test_a_majority_vote_is_that_of_vote_on_the_same_responses(complete: Complete, table: pl.DataFrame) -> None:
    reply = complete("good", PROMPT, handler={"n": N})
    verdict = sy.vote(table, method="majority", score="none", answers="math")
    assert reply.steelyard["answer"] == verdict["answer"][0]
    assert reply.steelyard["share"] == pytest.approx(verdict["share"][0])
    assert reply.choices[0].message.content in table["response"].to_list()
    assert rf"\boxed{{{verdict['answer'][0]}}}" in reply.choices[0].message.content


def test_the_vote_of_a_plan_is_that_of_vote_on_the_same_responses(
    complete: Complete, table: pl.DataFrame, plan: Path, upstream: FaultUpstream
) -> None:
    reply = complete("good", PROMPT, handler={"n": N, "plan": plan}, steelyard={"ballots": True})
    verdict = sy.vote(table, plan=plan, answers="math")
    assert reply.steelyard["answer"] == verdict["answer"][0]
    assert reply.steelyard["confidence"] == pytest.approx(verdict["confidence"][0])
    assert [ballot["score"] for ballot in reply.steelyard["ballots"]] == pytest.approx(table["self_logprob"].to_list())
    assert all(entry["logprobs"] for entry in upstream.asked("good")[-N:])


def test_a_vote_by_log_probabilities_needs_some(complete: Complete, plan: Path) -> None:
    with pytest.raises(litellm.BadGatewayError, match="returns no log-probabilities, which calibrated needs"):
        complete("fault:no-logprobs", PROMPT, handler={"n": N, "plan": plan})
    result = complete("fault:no-logprobs#2", PROMPT, handler={"n": N, "plan": plan}).steelyard
    assert "1 of 8 samples have no log-probabilities" in result["notes"]


def test_a_plan_for_several_llms_weighs_them_by_name(
    settings: Callable[..., dict[str, Any]], complete: Complete, tmp_path: Path
) -> None:
    path = tmp_path / "three.json"
    sy.CommitteeVote().fit(pool(committee({"a": 0.8, "b": 0.5, "c": 0.4}, 60))).save(path)
    models = {"a": "fault:knows@100", "b": "fault:knows@0.3", "c": "good"}
    upstreams = {name: settings(model) for name, model in models.items()}
    result = complete(upstreams, "113 + 1?", handler={"n": 3, "plan": path}, steelyard={"ballots": True}).steelyard
    expected = sy.ask(
        "113 + 1?", upstream=dict.fromkeys(models, settings("")["api_base"]), model=models, n=3, plan=path,
        prompt="plain", seed=0,
    )  # fmt: skip
    assert result["answer"] == expected.answer
    assert result["confidence"] == pytest.approx(expected.confidence)
    assert [(one["source"], one["answer"]) for one in result["ballots"]] == [
        (v.source, v.answer) for v in expected.votes
    ]


def test_the_usage_and_the_cost_are_those_of_all_samples(
    complete: Complete, settings: Callable[..., dict[str, Any]]
) -> None:
    priced = settings("good", input_cost_per_token=1e-6, output_cost_per_token=2e-6)
    reply = complete(priced, PROMPT, handler={"n": N})
    written = sum(len(text_of(PROMPT, seed).split()) for seed in range(N))
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (7 * N, written)
    assert reply._hidden_params["response_cost"] == pytest.approx(7e-6 * N + 2e-6 * written)


def test_a_stream_has_the_winner_and_ends_with_the_vote_and_the_usage(complete: Complete) -> None:
    unstreamed = complete("good", PROMPT)
    chunks = list(complete("good", PROMPT, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == unstreamed.choices[0].message.content
    assert [chunk.steelyard for chunk in chunks if hasattr(chunk, "steelyard")] == [unstreamed.steelyard]
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices[0].finish_reason] == ["stop"]
    assert chunks[-1].usage.total_tokens == unstreamed.usage.total_tokens


def test_the_async_client_gets_the_same(complete: Complete) -> None:
    unstreamed = complete("good", PROMPT)

    async def ask() -> tuple[Any, str]:
        request = {"model": "steelyard/vote", "messages": [{"role": "user", "content": PROMPT}], "seed": 0}
        reply = await litellm.acompletion(**request)
        stream = await litellm.acompletion(**request, stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        inside = litellm.completion(**request)  # as in a notebook, where a loop runs
        assert inside.steelyard == unstreamed.steelyard
        return reply, text

    reply, text = asyncio.run(ask())
    assert reply.steelyard == unstreamed.steelyard
    assert text == reply.choices[0].message.content == unstreamed.choices[0].message.content


def test_failed_samples_cast_no_vote(complete: Complete) -> None:
    result = complete("fault:400#2", PROMPT, handler={"n": 4}).steelyard
    assert (result["samples"]["drawn"], result["samples"]["failed"]) == (3, 1)
    assert sum(answer["votes"] for answer in result["answers"]) == 3
    assert any("HTTP 400" in reason for reason in result["failures"])


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, litellm.BadRequestError), (401, litellm.AuthenticationError), (404, litellm.NotFoundError)],
)
def test_without_any_sample_the_error_is_that_of_the_upstream(
    complete: Complete, status: int, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"no {status} today") as refused:
        complete(f"fault:{status}", handler={"n": 2})
    assert KEY not in str(refused.value)


def test_no_server_is_an_error_of_the_upstream(complete: Complete) -> None:
    dead = {"model": "openai/good", "api_base": "http://127.0.0.1:9/v1", "api_key": "none"}
    with pytest.raises(litellm.BadGatewayError, match="the upstream gave no response"):
        complete(dead, handler={"n": 1})


def test_cached_responses_are_not_samples(
    complete: Complete, monkeypatch: pytest.MonkeyPatch, upstream: FaultUpstream
) -> None:
    monkeypatch.setattr(litellm, "cache", litellm.Cache(type="local"))
    for _ in range(2):
        assert complete("cached", "cached?", handler={"n": 3}, caching=False).steelyard["samples"]["drawn"] == 3
    assert len(upstream.asked("cached")) == 6


def test_tool_calls_are_voted_on(complete: Complete) -> None:
    request: dict[str, Any] = {"tools": [TOOL], "handler": {"n": 4}}
    reply = complete("fault:calling", **request)
    assert (reply.steelyard["policy"], reply.steelyard["share"]) == ("tools", 0.75)
    assert reply.choices[0].message.tool_calls[0].function.name == "weather"
    chunks = list(complete("fault:calling", **request, stream=True))
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert [call.function.arguments for call in calls] == [reply.choices[0].message.tool_calls[0].function.arguments]
    assert chunks[-1].choices[0].finish_reason == reply.choices[0].finish_reason


def test_structured_output_and_free_text_are_voted_on_as_in_the_gateway(complete: Complete) -> None:
    parts = {"n": 4, "vote_on": ["/answer"]}
    result = complete("fault:structured", response_format={"type": "json_object"}, steelyard=parts).steelyard
    assert (result["policy"], result["share"]) == ("json", 0.75)
    result = complete("fault:opinions", "Who invented the compiler?", handler={"n": 4}).steelyard
    assert result["policy"] == "similar"
    assert "Hopper" in result["answer"]


def test_an_upstream_that_is_a_vote_is_refused(complete: Complete) -> None:
    with pytest.raises(SettingError, match="is a vote itself"):
        Steelyard("steelyard/vote")
    inner = {"provider": "other", "custom_handler": Steelyard("other/vote", n=2)}
    litellm.custom_provider_map = [inner]
    with pytest.raises(litellm.BadRequestError, match="is asked by a vote of Steelyard"):
        litellm.completion(model="other/vote", messages=[{"role": "user", "content": "1 + 1?"}])


@pytest.mark.parametrize(
    ("upstream", "options", "message"),
    [
        ({}, {}, "the upstream must be a model of LiteLLM"),
        ({"a": {"api_base": "http://x"}}, {}, "upstream 'a' has no model"),
        ({"": "openai/m", "b": "openai/m"}, {}, "needs a name"),
        ({"a": "openai/m", "b": "openai/m"}, {"n": 33}, "cannot draw 33 samples of each of 2 upstreams"),
        ("openai/m", {"n": 0}, "cannot draw 0 samples"),
        ("openai/m", {"n": 1000}, "must be between 1 and 64"),
        ("openai/m", {"method": "calibrated"}, "cannot vote without a plan"),
        ("openai/m", {"answers": "maths"}, "math"),
        ("openai/m", {"plan": "missing.json"}, "missing.json"),
        ({"model": "openai/m", "api_key": "os.environ/NO_SUCH_KEY"}, {}, "NO_SUCH_KEY of .* is not set"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(upstream: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(sy.SteelyardError, match=message) as refused:
        Steelyard(upstream, **options)
    assert "\n" not in str(refused.value)


def test_a_plan_for_the_score_of_a_verifier_is_refused(tmp_path: Path) -> None:
    drawn = sy.simulate(40, N, seed=1).rename({"score": "prm"})
    sy.method_class("calibrated")().fit(labelled(drawn, score="prm")).save(tmp_path / "plan.json")
    with pytest.raises(PlanError, match="no verifier runs inside LiteLLM: run 'steelyard serve"):
        Steelyard("openai/m", plan=tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"steelyard": {"samples": 3}}, "unknown setting 'samples'"),
        ({"steelyard": {"n": 65}}, "n must lie between 1 and 64"),
        ({"api_version": "x", "upstreams": "openai/other"}, "'upstreams' is not passed on"),
        ({"extra_body": {"plan": "/etc/passwd"}}, "'plan' is not passed on"),
        ({"api_base": "http://127.0.0.1:9/v1"}, "api_base is not used here"),
        ({"stream": True, "n": 2}, "a stream has one choice"),
    ],
)
def test_a_request_cannot_change_the_upstream_or_exceed_the_limits(
    complete: Complete, request_: dict[str, Any], message: str
) -> None:
    with pytest.raises(litellm.BadRequestError, match=message):
        list(complete("good", **request_))
