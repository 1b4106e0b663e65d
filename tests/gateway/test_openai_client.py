"""The contract with OpenAI's clients, line by line, held by the real openai client: replies that are no streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import steelyard as sy
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.gateway.openai_clients import openai_client, openai_package, user
from tests.gateway.rows import rows
from tests.upstreams import FaultUpstream

RICH = "fault:rich"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url, model=RICH) as running:
        yield running


@pytest.fixture(scope="module")
def client(served: Gateway) -> Iterator[Any]:
    with openai_client(served, max_retries=0) as made:
        yield made


def chat(client: Any, text: str, model: str = VOTE, **more: Any) -> Any:
    return client.chat.completions.create(model=model, messages=user(text), **more)


def test_models_are_listed_with_id_object_created_and_owner(client: Any) -> None:
    listed = client.models.list()
    assert [each.id for each in listed] == [VOTE, RICH]
    assert {(each.object, type(each.created), type(each.owned_by)) for each in listed} == {("model", int, str)}
    assert listed.object == "list"


@pytest.mark.parametrize("name", [VOTE, RICH])
def test_a_model_is_found_by_an_id_with_a_slash(client: Any, name: str) -> None:
    assert client.models.retrieve(name).id == name


def test_a_route_that_is_not_there_is_a_not_found_error_with_a_message(client: Any) -> None:
    with pytest.raises(openai_package().NotFoundError, match="no route") as told:
        client.embeddings.create(model="m", input="x")
    assert (told.value.type, told.value.code) == ("invalid_request_error", "not_found")


def test_a_model_that_is_not_there_is_a_not_found_error_that_names_the_field(client: Any) -> None:
    with pytest.raises(openai_package().NotFoundError, match="no model 'gpt-9'") as told:
        chat(client, "x", "gpt-9")
    assert (told.value.param, told.value.code) == ("model", "model_not_found")


def test_a_completion_has_a_unique_id_its_object_a_time_and_the_model_that_was_asked(client: Any) -> None:
    first, second = (chat(client, "ids?", seed=0) for _ in range(2))
    assert first.id.startswith("chatcmpl-")
    assert first.id != second.id
    assert (first.object, type(first.created), first.model) == ("chat.completion", int, VOTE)
    (choice,) = first.choices
    assert (choice.index, choice.message.role, choice.finish_reason) == (0, "assistant", "stop")
    assert choice.message.content in [text_of("ids?", i) for i in range(8)]


@pytest.mark.parametrize("model", [VOTE, RICH])
def test_reasoning_refusal_annotations_and_unknown_fields_of_the_response_are_kept(client: Any, model: str) -> None:
    reply = chat(client, "kept?", model, seed=0)
    message = reply.choices[0].message
    assert (message.reasoning_content, message.refusal, message.annotations) == ("I think.", None, [])
    assert reply.choices[0].model_extra["x_choice"] == "kept"
    assert (reply.system_fingerprint, reply.service_tier) == ("fp_rich", "default")
    if model == RICH:
        assert reply.model_extra["x_unknown"] == {"kept": [1, None]}
        assert "steelyard" not in reply.model_extra


def test_what_is_ours_stands_in_one_object_of_the_extra_fields(client: Any) -> None:
    reply = chat(client, "ours?", seed=0)
    assert reply.model_extra["steelyard"]["answer"] == sy.extract_answer(reply.choices[0].message.content)
    assert 0 <= reply.model_extra["steelyard"]["share"] <= 1
    assert reply.model_extra["steelyard"]["confidence"] is None  # the server has no plan


@pytest.mark.parametrize("model", [VOTE, RICH])
def test_unknown_fields_and_the_usual_ones_of_the_request_reach_the_upstream(
    client: Any, upstream: FaultUpstream, model: str
) -> None:
    given = {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}, "guided_regex": "a+"}
    usual = {"stop": ["END"], "user": "u", "metadata": {"a": "b"}, "max_tokens": 50, "top_p": 0.5}
    roles = [{"role": "system", "content": "s"}, {"role": "developer", "content": "d"}]
    parts = [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/i.png"}}]
    messages = [*roles, {"role": "user", "content": parts}, {"role": "assistant", "content": f"prefill {model}"}]
    ours = {"steelyard": {"n": 2}} if model == VOTE else {}
    client.chat.completions.create(model=model, messages=messages, extra_body=given | ours, **usual)
    sent = [json.loads(each["written"]) for each in upstream.entries() if each["prompt"] == f"prefill {model}"]
    assert len(sent) == 1
    assert (given | usual | {"messages": messages}).items() <= {
        name: value for name, value in sent[0].items() if name not in ("n", "model")
    }.items()
    assert sent[0]["model"] == RICH
    assert "steelyard" not in sent[0]


def test_n_is_the_number_of_answers_that_come_back_and_not_of_samples(client: Any) -> None:
    reply = chat(client, "What is 3 + 4?", n=3, seed=5)
    answers = [sy.extract_answer(choice.message.content) for choice in reply.choices]
    assert len(set(answers)) == len(answers) == 3
    assert [choice.index for choice in reply.choices] == [0, 1, 2]
    assert reply.model_extra["steelyard"]["samples"]["wanted"] == 8
    assert len(chat(client, "What is 3 + 4?", RICH, n=3).choices) == 3


def test_usage_is_all_that_was_billed_and_keeps_zeros_that_the_upstream_told(client: Any) -> None:
    reply = chat(client, "usage?", seed=0, extra_body={"steelyard": {"n": 3}})
    words = sum(len(text_of("usage?", i).split()) for i in range(3))
    assert (reply.usage.completion_tokens, reply.usage.total_tokens) == (words, reply.usage.prompt_tokens + words)
    assert reply.usage.prompt_tokens_details.cached_tokens == 0


@pytest.mark.usefixtures("short_pauses")
def test_usage_that_the_upstream_did_not_tell_is_not_invented(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:no-usage") as running, openai_client(running) as client:
        assert chat(client, "x").usage is None


@pytest.mark.parametrize("model", [VOTE, RICH])
def test_logprobs_come_back_unchanged_where_they_were_asked_for_and_nowhere_else(client: Any, model: str) -> None:
    reply = chat(client, "logprobs?", model, seed=0, logprobs=True)
    words = reply.choices[0].message.content.split()
    assert [each.token for each in reply.choices[0].logprobs.content] == words
    assert [each.logprob for each in reply.choices[0].logprobs.content] == [-0.1 * (1 + len(w) % 3) for w in words]
    assert chat(client, "logprobs?", model, seed=0).choices[0].logprobs is None


@pytest.mark.parametrize("voted", [True, False])
def test_logprobs_of_a_long_reply_are_what_the_client_can_read(upstream: FaultUpstream, voted: bool) -> None:
    model = "fault:long-logprobs"
    with gateway(upstream.url, model=model, n=2) as running, openai_client(running) as client:
        content = chat(client, "long?", VOTE if voted else model, logprobs=True).choices[0].logprobs.content
    assert {(each.token, each.logprob) for each in content} == {("token", -0.25)}
    assert all(each.bytes is None or each.bytes == list(b"token") for each in content)


@pytest.mark.parametrize("model", [VOTE, "fault:calling"])
def test_tool_calls_come_back_whole_with_their_id_and_without_content(upstream: FaultUpstream, model: str) -> None:
    with gateway(upstream.url, model="fault:calling") as running, openai_client(running) as client:
        reply = chat(client, "Rome?", model, seed=1, tools=[TOOL], tool_choice="auto", parallel_tool_calls=False)
    message = reply.choices[0].message
    (call,) = message.tool_calls
    assert (message.content, call.id, call.function.name) == (None, "call_1", "weather")
    assert json.loads(call.function.arguments) == {"city": "Rome", "days": 3}
    sent = json.loads(upstream.entries()[-1]["written"])
    assert (sent["tools"], sent["tool_choice"], sent["parallel_tool_calls"]) == ([TOOL], "auto", False)


def test_sample_i_has_the_seed_plus_i(client: Any, upstream: FaultUpstream) -> None:
    chat(client, "seeds?", seed=40, extra_body={"steelyard": {"n": 3}})
    (sent,) = (entry for entry in upstream.entries() if entry["prompt"] == "seeds?")
    assert (sent["seed"], sent["n"]) == (40, 3)  # the upstream counts on from the seed
    with gateway(upstream.url, model="fault:rich&no-n") as running, openai_client(running) as other:
        chat(other, "seeds one by one?", seed=40, extra_body={"steelyard": {"n": 3}})
    seeds = [entry["seed"] for entry in upstream.entries() if entry["prompt"] == "seeds one by one?"]
    assert sorted(seeds) == [40, 41, 42]


def test_temperature_0_draws_one_sample_and_says_so(client: Any) -> None:
    told = chat(client, "cold?", temperature=0).model_extra["steelyard"]
    assert told["samples"]["drawn"] == 1
    assert "temperature 0" in told["notes"][0]


@pytest.mark.parametrize("model", [VOTE, RICH])
def test_the_request_id_reaches_the_client_and_one_of_his_own_is_echoed(client: Any, model: str) -> None:
    assert chat(client, "id?", model)._request_id.startswith("req_")
    assert chat(client, "id?", model, extra_headers={"x-request-id": "mine.7"})._request_id == "mine.7"


def test_message_type_param_and_code_of_an_error_reach_the_client(client: Any) -> None:
    with pytest.raises(openai_package().BadRequestError, match="n must lie between 1 and 16") as told:
        chat(client, "x", n=99)
    assert (told.value.type, told.value.param, told.value.code) == ("invalid_request_error", "n", None)
    with pytest.raises(openai_package().BadRequestError, match="unknown setting 'N'") as told:
        chat(client, "x", extra_body={"steelyard": {"N": 2}})
    assert told.value.param == "steelyard.N"


def test_a_wrong_key_is_an_authentication_error_that_does_not_say_it(served: Gateway) -> None:
    stranger = openai_client(served, api_key="sk-wrong-wrong-wrong")
    with stranger, pytest.raises(openai_package().AuthenticationError) as told:
        stranger.models.list()
    assert told.value.type == "authentication_error"
    assert "wrong-wrong" not in str(told.value)
    assert KEY not in str(told.value)


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [("422", "UnprocessableEntityError", 422), ("429", "RateLimitError", 429), ("html", "InternalServerError", 502)],
)
@pytest.mark.parametrize("voted", [True, False])
@pytest.mark.usefixtures("short_pauses")
def test_what_we_have_tried_again_is_not_tried_again_by_the_client(
    upstream: FaultUpstream, kind: str, error: str, status: int, voted: bool
) -> None:
    model, prompt = f"fault:{kind}?now", f"now {kind} {voted}"
    with gateway(upstream.url, model=model) as running, openai_client(running, max_retries=2) as client:
        assert running.send("GET", "/readyz").status == 200
        with pytest.raises(getattr(openai_package(), error)) as told:
            chat(client, prompt, VOTE if voted else model, extra_body={"steelyard": {"n": 1}} if voted else None)
    assert (told.value.status_code, told.value.response.headers["x-should-retry"]) == (status, "false")
    assert ("retry-after" in told.value.response.headers) == (status == 429)
    asked = sum(entry["prompt"] == prompt for entry in upstream.entries())
    assert asked == (1 if kind == "422" else 3)


@pytest.mark.parametrize("kind", rows(["choices-empty", "choices-null", "html", "error", "detail"], "choices-empty"))
@pytest.mark.parametrize("voted", [True, False])
@pytest.mark.usefixtures("short_pauses")
def test_a_reply_without_choices_is_a_502_and_never_a_success(upstream: FaultUpstream, kind: str, voted: bool) -> None:
    model = f"fault:{kind}?now"
    with gateway(upstream.url, model=model) as running, openai_client(running) as client:
        assert running.send("GET", "/readyz").status == 200
        with pytest.raises(openai_package().InternalServerError) as told:
            chat(client, "now", VOTE if voted else model)
        assert told.value.status_code == 502
