"""The page's routes: what they tell, to whom, and what is remembered."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import steelyard as sy
from steelyard.foundation import look
from steelyard.foundation.errors import SettingError
from steelyard.gateway.feedback.feedback_summary import MIN_SCORED
from steelyard.gateway.page import page_routes
from steelyard.gateway.page.page_routes import FILES, MAX_RECENT, document
from steelyard.sampling.llm.prices import read_prices
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import KEY, VOTE, Answered, Gateway, gateway
from tests.upstreams import FaultUpstream
from tests.waiting import until, with_more_time

PROMPT = "What is 3 + 4?"
AGREED = next(p for p in map("{}?".format, range(99)) if len({text_of(p, seed)[-3:] for seed in range(2)}) == 1)
OPENING = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url, model="fault:400?broken") as running:
        yield running


@pytest.fixture(scope="module")
def frugal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan that weighs by log-probabilities, was fitted on low ones, and stops when two samples agree."""
    path = tmp_path_factory.mktemp("plans") / "frugal.json"
    method = sy.VanillaVote().fit(sy.read_labelled(sy.simulate(60, 8)))
    assert method.fitted_on_ is not None
    low = tuple(-3 + i / 50 for i in range(50))
    method.fitted_on_ = replace(method.fitted_on_, score="self_logprob", reference_scores=low)
    method.stopping_ = sy.evaluation.rule_class("beta")(cap=8, least=2, threshold=0.7)
    method.save(path)
    return path


def test_prices_of_two_currencies_are_refused() -> None:
    with pytest.raises(SettingError, match="mixes EUR and USD"):
        read_prices(["1,2", "verifier=1,2,EUR"])
    with pytest.raises(SettingError, match="IN,OUT,EUR"):
        read_prices(["1,2,euro"])


def body(prompt: str, n: int, model: str = VOTE, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": prompt}], "steelyard": {"n": n}, **more}


def asked(running: Gateway, prompt: str = PROMPT, n: int = 8, *, query: str = "", **more: Any) -> Answered:
    return running.send("POST", f"/page/ask{query}", body(prompt, n, **more))


def test_a_browser_without_the_key_gets_the_page_that_asks_for_it_and_nobody_else_does(served: Gateway) -> None:
    refused = served.send("GET", "/", key=None, headers=OPENING)
    assert (refused.status, refused.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert refused.headers["www-authenticate"] == "Bearer"  # which no browser asks for by a window of its own
    assert refused.body == served.send("GET", "/").body == document()[0]
    assert served.send("GET", "/", key=None).error["code"] == "invalid_api_key"
    for path in ("/v1/models", "/page/state", "//", "/metrics"):
        assert served.send("GET", path, key=None, headers=OPENING).error["code"] == "invalid_api_key"
    assert served.send("GET", "/", key=None, headers={**OPENING, "Host": "evil.example"}).error["code"] == "wrong_host"


def test_the_page_holds_nothing_of_this_server(served: Gateway) -> None:
    page = served.send("GET", "/").body.decode()
    assert VOTE not in page
    assert KEY not in page


@pytest.mark.parametrize(("method", "path"), [("GET", "/page/state"), ("POST", "/page/ask")])
def test_what_the_page_asks_for_is_behind_the_key(served: Gateway, method: str, path: str) -> None:
    for key in (None, "wrong"):
        assert served.send(method, path, body(PROMPT, 1), key=key).status == 401


def test_the_policy_of_the_page_lets_nothing_run_but_its_own_script_and_sheet(served: Gateway) -> None:
    answered = served.send("GET", "/")
    policy = dict(part.strip().split(" ", 1) for part in answered.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    page = answered.body.decode()
    for name in ("style", "script"):
        content = re.search(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        assert content is not None
        assert policy[f"{name}-src"] == look.allowed(content[1])
        assert page.count(f"<{name}") == 1
    assert not re.search(r'<[^>]+\s(style|on\w+)="', page)
    assert not re.search(r"(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function)", page)


def test_there_is_one_palette() -> None:
    own = (FILES / "gateway.css").read_text()
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?=[^{]*})|rgb|hsl", own)
    assert look.style() in document()[0].decode()


def test_every_sample_is_told_with_the_vote_so_far_and_the_last_word_is_that_of_the_api(served: Gateway) -> None:
    *told, last = asked(served, n=5, seed=2).events
    assert told[0] == {"begun": {"samples": 5, "upstreams": 1, "cascade": False}}
    samples = [each["sample"] for each in told[1:]]
    assert sorted(one["number"] for one in samples) == list(range(5))
    assert {one["text"] for one in samples} == {text_of(PROMPT, 2 + i) for i in range(5)}
    assert [each["vote"]["samples"] for each in told[1:]] == [1, 2, 3, 4, 5]
    api = served.chat(PROMPT, seed=2, steelyard={"n": 5, "ballots": True}).json
    for name in ("answer", "confidence", "answers", "ballots", "margin", "share"):
        assert last["decided"]["vote"][name] == api["steelyard"][name]
    assert last["decided"]["text"] == api["choices"][0]["message"]["content"]
    assert told[-1]["vote"]["answers"] == api["steelyard"]["answers"]


def test_the_votes_side_by_side_are_those_on_the_first_samples_of_the_draw(served: Gateway) -> None:
    votes = asked(served, n=16, seed=9).events[-1]["decided"]["side_by_side"]
    assert [vote["samples"] for vote in votes] == [1, 4, 16]
    for vote in votes:
        api = served.chat(PROMPT, seed=9, steelyard={"n": vote["samples"]}).json["steelyard"]
        assert (vote["answer"], vote["confidence"], vote["answers"]) == (
            api["answer"], api["confidence"], api["answers"],
        )  # fmt: skip


def test_every_sample_of_several_upstreams_has_a_place_of_its_own(upstream: FaultUpstream) -> None:
    named = dict.fromkeys("ab", upstream.url)
    with gateway(
        ",".join(f"{name}={url}" for name, url in named.items()), model="a=good,b=fault:knows@50", n=3
    ) as running:
        *told, last = asked(running, n=3, seed=0).events
    assert told[0]["begun"] == {"samples": 6, "upstreams": 2, "cascade": False}
    samples = [each["sample"] for each in told[1:]]
    assert sorted(one["number"] for one in samples) == list(range(6))
    assert [one["source"] for one in sorted(samples, key=lambda one: int(one["number"]))] == ["a", "b"] * 3
    decided = last["decided"]
    assert sorted(decided["places"]) == list(range(6))
    assert told[-1]["vote"]["answers"] == decided["vote"]["answers"]
    given = {str(at): one["answer"] for at, one in zip(decided["places"], decided["vote"]["ballots"], strict=True)}
    answers = [one["answer"] for one in told[-1]["vote"]["answers"]]
    assert {at: answers[k] for at, k in told[-1]["vote"]["given"].items()} == given


def test_with_a_rule_the_samples_of_several_upstreams_count_by_their_places(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    method = sy.MajorityVote().fit(sy.read_labelled(sy.simulate(60, 8)))
    method.stopping_ = sy.evaluation.rule_class("beta")(cap=8, least=2, threshold=0.999)
    method.save(tmp_path / "plan.json")

    def check(seconds: float) -> None:
        urls, models = f"a={upstream.url},b={upstream.url}", f"a=fault:tardy@{seconds}?{PROMPT},b=good"
        with gateway(urls, model=models, n=2, plan=tmp_path / "plan.json") as running:
            *told, _ = asked(running, n=2, model="steelyard/plan", seed=0).events
        came = [(each["sample"]["number"], each["vote"] and each["vote"]["samples"]) for each in told[1:]]
        assert [counted for number, counted in came if number % 2] == [None, None]  # of b, before those of a
        assert came[-1][1] == 4

    with_more_time(check, 0.3)


def test_the_rule_is_told_with_its_line_and_can_be_left_out(upstream: FaultUpstream, frugal: Path) -> None:
    with gateway(upstream.url, plan=frugal) as running:
        state = running.send("GET", "/page/state").json
        assert state["method"]["rule"] == {"name": "beta", "threshold": 0.7, "cap": 8}
        *told, last = asked(running, AGREED, model="steelyard/frugal", seed=0).events
        counted = [each["vote"] for each in told[1:] if each["vote"]]
        drawn = last["decided"]["vote"]["samples"]["drawn"]
        assert [vote["rule"]["value"] >= 0.7 and vote["samples"] >= 2 for vote in counted].count(True) == 1
        assert counted[-1]["samples"] == drawn < 8
        whole = asked(running, AGREED, model="steelyard/frugal", seed=0, query="?stop=never").events[-1]["decided"]
        assert whole["vote"]["samples"]["drawn"] == 8
        assert whole["vote"]["stopped"] == "all samples were drawn"


def test_with_a_rule_no_sample_counts_before_those_of_lower_numbers(upstream: FaultUpstream, frugal: Path) -> None:
    def check(seconds: float) -> None:
        with gateway(upstream.url, model=f"fault:tardy@{seconds}#0?late", plan=frugal) as running:
            *told, last = asked(running, f"late {AGREED}", 3, model="steelyard/frugal", seed=0).events
        assert [each["sample"]["number"] for each in told[1:]][-1] == 0
        assert [each["vote"] for each in told[1:-1]] == [None, None]
        assert told[-1]["vote"]["samples"] == last["decided"]["vote"]["samples"]["drawn"]

    with_more_time(check, 0.4)


@pytest.mark.parametrize(
    ("sent", "status", "told"),
    [
        ({"model": "fault:400?broken"}, 400, "the model that votes"),
        ({"steelyard": {"n": 10**6}}, 400, "n must lie between"),
        ({"messages": []}, 400, "at least one message"),
    ],
)
def test_a_wrong_request_is_refused_before_the_stream(
    served: Gateway, sent: dict[str, Any], status: int, told: str
) -> None:
    answered = served.send("POST", "/page/ask", body(PROMPT, 2) | sent)
    assert answered.status == status
    assert told in answered.error["message"]


def test_when_no_sample_comes_the_last_event_is_the_error(served: Gateway) -> None:
    last = asked(served, "broken?", n=2).events[-1]
    assert last["error"]["code"] == "upstream_refused"
    assert set(last["error"]) == {"message", "type", "param", "code"}


def test_who_leaves_the_page_cancels_what_is_under_way(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:silent?leaving") as running:
        assert running.send("GET", "/readyz").status == 200
        where = urlsplit(running.url)
        content = json.dumps(body("leaving", 3)).encode()
        head = f"POST /page/ask HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {KEY}\r\n"
        with socket.create_connection((where.hostname, where.port)) as client:
            client.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
            until(lambda: len([e for e in upstream.entries() if e["prompt"] == "leaving"]) == 3)
        numbers = {entry["request"] for entry in upstream.entries() if entry["prompt"] == "leaving"}
        until(lambda: numbers <= {e["request"] for e in upstream.entries("left") if e["closed"] == "them"})


def test_prompts_and_answers_are_remembered_only_where_the_operator_says_so(upstream: FaultUpstream) -> None:
    for keep in (False, True):
        with gateway(upstream.url, keep_texts=keep) as running:
            told = running.chat("canary of a prompt", seed=1, steelyard={"n": 4}).json
            state = running.send("GET", "/page/state")
            (entry,) = state.json["requests"]
            assert (entry["id"], entry["confidence"]) == (told["id"], told["steelyard"]["confidence"])
            assert len(entry["ballots"]) == 4
            assert ("canary of a prompt" in state.body.decode()) is keep
            kept = [one["answer"] for one in entry["answers"]]
            real = [one["answer"] for one in told["steelyard"]["answers"]]
            assert kept == (real if keep else [f"answer {i}" for i in range(1, len(real) + 1)])


def test_a_key_sees_only_its_own_requests(upstream: FaultUpstream, tmp_path: Path) -> None:
    keys = [f"key-number-{i}-of-three" for i in range(3)]
    (tmp_path / "keys").write_text("\n".join(keys))
    with gateway(upstream.url, keep_texts=True, key_file=tmp_path / "keys") as running:
        ids: list[list[str]] = [[], []]
        for i in range(MAX_RECENT + 2):  # one key asks often, the other once
            for who in (0, 1) if i == 0 else (0,):
                sent = body(f"secret {i} of {who}", 1)
                ids[who].append(running.send("POST", "/v1/chat/completions", sent, key=keys[who]).json["id"])
        states = [running.send("GET", "/page/state", key=key) for key in keys]
    shown = [[entry["id"] for entry in state.json["requests"]] for state in states]
    assert shown == [ids[0][::-1][:MAX_RECENT], ids[1], []]
    texts = [re.findall(r"secret \d+ of (\d)", state.body.decode()) for state in states]
    assert [set(each) for each in texts] == [{"0"}, {"1"}, set()]


def test_the_requests_of_so_many_keys_are_remembered(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_routes, "MAX_OWNERS", 2)
    keys = [f"key-number-{i}-of-four" for i in range(4)]
    (tmp_path / "keys").write_text("\n".join(keys))
    with gateway(upstream.url, key_file=tmp_path / "keys") as running:
        for who in (0, 1, 0, 2):
            assert running.send("POST", "/v1/chat/completions", body("1 + 1?", 1), key=keys[who]).status == 200
        listed = [running.send("GET", "/page/state", key=key).json["requests"] for key in keys]
    assert [len(each) for each in listed] == [2, 0, 1, 0]  # the key that has not asked for longest is forgotten


def test_the_memory_of_requests_is_bounded_and_the_newest_comes_first(served: Gateway) -> None:
    ids = [served.chat(f"{i}?", steelyard={"n": 1}).json["id"] for i in range(MAX_RECENT + 3)]
    listed = served.send("GET", "/page/state").json["requests"]
    assert [entry["id"] for entry in listed] == ids[::-1][:MAX_RECENT]


def test_scores_that_have_moved_since_the_plan_was_fitted_are_told(upstream: FaultUpstream, frugal: Path) -> None:
    with gateway(upstream.url, plan=frugal) as running:
        for i in range(MIN_SCORED):
            assert running.send("GET", "/page/state").json["drift"] is None
            running.chat(f"score {i}?", "steelyard/frugal", steelyard={"n": 2})
        drift = running.send("GET", "/page/state").json["drift"]
        assert drift["moved"]
        assert drift["seen"] < 0.5 < drift["found"]
