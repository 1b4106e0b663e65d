"""One request, whatever the server does with it; and what a server is found to be able to do."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.foundation.errors import SettingError, UpstreamError
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.llm.address import Address, read_address
from steelyard.sampling.llm.bounded_json import Hold, Room, parsed
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.completion_json import Reply, body_of, read_reply
from steelyard.sampling.llm.faults import (
    BusyError,
    LateError,
    RefusedError,
    TooLargeError,
    TryError,
)
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.probe import QUESTION, probe
from steelyard.sampling.llm.retry import persistently
from tests.fault_upstream.asked import text_of
from tests.memory import measured
from tests.upstreams import CANARY, FaultUpstream, fault_upstream
from tests.waiting import PATIENCE

ALL = Abilities(most=64, logprobs=True, usage=True)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultUpstream]:
    with fault_upstream(tmp_path_factory.mktemp("upstream")) as server:
        yield server


def ask(upstream: FaultUpstream, model: str, *, n: int = 1, timeout: float = PATIENCE, prompt: str = "1 + 1?") -> Reply:
    """Ask once, with a key the server knows."""

    async def once() -> Reply:
        async with Client(Address(upstream.url, CANARY), try_timeout=timeout) as client:
            return await client.sample(body_of(Sampling(model, n=n), ALL, prompt, n=n, first=0), n)

    return asyncio.run(once())


def found(upstream: FaultUpstream, model: str, n: int = 16, temperature: float = 0.7) -> Abilities:
    async def once() -> Abilities:
        async with Client(Address(upstream.url, CANARY), try_timeout=PATIENCE) as client:
            return await probe(client, Sampling(model, n=n, temperature=temperature))

    return asyncio.run(once())


def test_a_good_reply_gives_every_sample_its_text_tokens_and_mean_logprob(upstream: FaultUpstream) -> None:
    reply = ask(upstream, "good", n=3)
    assert [reply.good[i].text for i in range(3)] == [text_of("1 + 1?", i) for i in range(3)]
    for choice in reply.good.values():
        words = choice.text.split()
        assert choice.finish == "stop"
        assert choice.tokens == len(words)
        assert choice.logprob == pytest.approx(-0.1 * sum(1 + len(word) % 3 for word in words) / len(words))
    assert reply.model == "good"


def test_choices_are_matched_by_their_index_not_by_their_position(upstream: FaultUpstream) -> None:
    assert ask(upstream, "fault:backwards", n=4).good[3].text == text_of("1 + 1?", 3)


def test_choices_beyond_n_are_ignored(upstream: FaultUpstream) -> None:
    assert set(ask(upstream, "fault:more", n=2).good) == {0, 1}


@pytest.mark.parametrize(
    ("model", "n", "good"), [("fault:fewer", 4, 3), ("fault:same-index", 4, 1), ("fault:no-n", 4, 1)]
)
def test_choices_that_are_missing_are_failed_samples(upstream: FaultUpstream, model: str, n: int, good: int) -> None:
    reply = ask(upstream, model, n=n)
    assert (len(reply.good), len(reply.wrong)) == (good, n - good)
    assert f"{good} of {n} choices" in reply.wrong[n - 1]


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("fault:garbage", "not JSON"),
        ("fault:html", "HTML"),
        ("fault:empty", "empty"),
        ("fault:null", "null, not an object"),
        ("fault:list", "a list, not an object"),
        ("fault:string", "a string, not an object"),
        ("fault:error", "the model is loading"),
        ("fault:error-string", "the model is loading"),
        ("fault:detail", "not here"),
        ("fault:choices-null", "choices must be a list, not null"),
        ("fault:choices-empty", "no choices"),
        ("fault:choices-object", "choices must be a list, not an object"),
        ("fault:deep@400000", "not JSON"),
        ("fault:digits", "not JSON"),
        ("fault:zipped", "compressed"),
        ("fault:cut@40", "connection broke"),
        ("fault:chunk-cut", "connection broke"),
        ("fault:bad-chunk", "connection broke"),
        ("fault:no-http", "connection broke"),
        ("fault:reset", "connection broke"),
        ("fault:trailing", "does not speak HTTP"),
        ("fault:500", "HTTP 500: no 500 today"),
        ("fault:502", "HTTP 502"),
    ],
)
def test_a_reply_without_a_sample_is_a_reason_on_one_line(upstream: FaultUpstream, model: str, says: str) -> None:
    with pytest.raises(TryError, match=says) as raised:
        ask(upstream, model)
    assert "\n" not in raised.value.reason
    assert CANARY not in raised.value.reason
    assert not isinstance(raised.value, RefusedError | BusyError)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("fault:choices-of-text", "message must be an object, not null"),
        ("fault:message-null", "message must be an object, not null"),
        ("fault:content-null", "content must be a string, not null"),
        ("fault:content-number", "content must be a string, not a number"),
        ("fault:index-text", "0 of 1 choices"),
        ("fault:index-far", "0 of 1 choices"),
    ],
)
def test_a_choice_without_a_text_is_a_failed_sample(upstream: FaultUpstream, model: str, says: str) -> None:
    reply = ask(upstream, model)
    assert not reply.good
    assert says in reply.wrong[0]


def test_what_is_odd_but_usable_is_used(upstream: FaultUpstream) -> None:
    assert ask(upstream, "fault:no-logprobs").good[0].logprob is None
    assert ask(upstream, "fault:no-logprobs").good[0].tokens == len(text_of("1 + 1?", 0).split())  # from usage
    assert ask(upstream, "fault:no-usage").good[0].logprob is not None
    odd = ask(upstream, "fault:numbers").good[0]
    assert (odd.logprob, odd.tokens) == (None, 2)
    assert ask(upstream, "fault:content-parts").good[0].text == r"so \boxed{3}"
    assert ask(upstream, "fault:content-empty").good[0].text == ""
    assert ask(upstream, "fault:length").good[0].finish == "length"
    assert ask(upstream, "fault:finish-number").good[0].finish == "unknown"
    assert ask(upstream, "fault:surrogate").good[0].text.encode().startswith(b"half \xef\xbf\xbd \x00")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 413])
def test_a_refusal_has_the_message_of_the_server_without_the_key(upstream: FaultUpstream, status: int) -> None:
    with pytest.raises(RefusedError, match=rf"HTTP {status}: no {status} today, key was \*\*\*") as raised:
        ask(upstream, f"fault:{status}")
    assert CANARY not in raised.value.reason
    assert raised.value.everywhere == (status in (401, 403, 404))


def test_a_redirect_is_refused_and_not_followed(upstream: FaultUpstream) -> None:
    with pytest.raises(RefusedError, match=r"it redirects to http://127\.0\.0\.1:1/v1") as raised:
        ask(upstream, "fault:redirect")
    assert raised.value.everywhere


@pytest.mark.parametrize(("model", "wait"), [("fault:429", None), ("fault:429@7", 7.0), ("fault:503@0.5", 0.5)])
def test_a_busy_server_says_how_long(upstream: FaultUpstream, model: str, wait: float | None) -> None:
    with pytest.raises(BusyError) as raised:
        ask(upstream, model)
    assert raised.value.wait == wait


def test_a_busy_server_may_name_a_date(upstream: FaultUpstream) -> None:
    with pytest.raises(BusyError) as raised:
        ask(upstream, "fault:429@date3600")
    assert raised.value.wait is not None
    assert 3000 < raised.value.wait <= 3600


@pytest.mark.parametrize("model", ["fault:silent", "fault:slow@0.2"])
def test_every_try_has_a_deadline(upstream: FaultUpstream, model: str) -> None:
    with pytest.raises(TryError, match=r"no answer within 0.3 s"):
        ask(upstream, model, timeout=0.3)


# In a process of its own: a high-water mark that another test has left says nothing.
PEAK = """
import sys
from pathlib import Path
from tests.sampling.llm.test_sampling import ask
from tests.memory import peak_memory
from tests.upstreams import FaultUpstream

upstream = FaultUpstream(sys.argv[1], Path())
ask(upstream, "good")
before = peak_memory()
try:
    ask(upstream, sys.argv[2], timeout=600)
except Exception as error:
    print(type(error).__name__, peak_memory() - before)
"""


@pytest.mark.parametrize("model", ["fault:huge@64", "fault:endless", "fault:crowd@2000000"])
def test_a_reply_made_to_fill_the_memory_is_not_read(upstream: FaultUpstream, model: str) -> None:
    done = measured(PEAK, upstream.url, model)
    assert done.code == 0, done.err
    error, grown = done.out.split()
    assert error == "TooLargeError"
    assert int(grown) < 100  # MB


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as taken:  # nobody else listens there meanwhile
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        nowhere = FaultUpstream(f"http://127.0.0.1:{port}/v1", Path())
        with pytest.raises(TryError, match=f"no connection to http://127.0.0.1:{port}/v1: connect"):
            ask(nowhere, "good")


def test_this_machine_is_never_reached_through_a_proxy(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert ask(upstream, "good").good


@pytest.mark.parametrize("thing", ["[],", '"ab",', "1.5,", '{"a":0},', '"\U0001f600",'])
def test_what_would_take_many_times_its_size_in_the_memory_is_refused_before_it_is_read(thing: str) -> None:
    body = bytearray(b'{"choices":[' + thing.encode() * 1_000_001 + b"0]}")
    with pytest.raises(TooLargeError, match="more than 1,000,000 parts"):
        parsed(body)
    assert not body


def test_a_long_reply_is_read_as_a_short_one_would_be() -> None:
    entries = [{"token": "é", "logprob": -0.5, "bytes": [195, 169], "top_logprobs": []}] * 20_000
    text = 'say "bytes": [1, 2] \\ \u00e9 中文 \U0001f600 \ud800' + "a" * 10**6
    body = {"model": "m", "choices": [{"message": {"content": text}, "logprobs": {"content": entries}}]}
    for ascii_only in (True, False):
        sent = json.dumps(body, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        reply = read_reply(parsed(bytearray(sent)), 1)
        assert reply == read_reply(json.loads(sent), 1)
        assert (reply.good[0].tokens, reply.good[0].logprob) == (20_000, -0.5)


def test_a_connection_that_is_not_made_is_not_called_an_answer_that_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.sampling.llm.connections.CONNECT", 0.2)
    with socket.socket() as full:  # nobody accepts, and one that waits fills the queue
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        others = [socket.socket() for _ in range(4)]
        for other in others:
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        nowhere = FaultUpstream(f"http://127.0.0.1:{full.getsockname()[1]}/v1", Path())
        with pytest.raises(LateError, match=r"no connection within 0\.2 s"):
            ask(nowhere, "good")
        for other in others:
            other.close()


@pytest.mark.parametrize("key", ["sk-canary-3f9a1c77e2", "0123456789abcdef0123"])
def test_no_part_of_a_key_is_left_where_a_message_is_cut(key: str) -> None:
    address = Address("http://h/v1", key)
    for before in range(240, 310):
        assert key[:4] not in address.masked("x" * before + key + "y" * 500)
        assert key[:4] not in address.masked(f"{key} " * 20 + "z" * before + key)
    escaped = "".join(f"\\u{ord(char):04X}" for char in key)
    assert address.masked(f"wrong key {escaped}") == "wrong key ***"


def test_a_short_key_is_no_secret_and_blanks_out_no_words() -> None:
    assert Address("http://h/v1", "x").masked("next") == "next"
    assert Address("http://h/v1", "test").masked("the latest test") == "the latest test"


def test_no_error_keeps_what_was_read(upstream: FaultUpstream) -> None:
    """The frames of an error hold the body of the reply; nothing may hold them while another try is made."""
    kept: list[TryError] = []

    async def twice() -> None:
        async with Client(Address(upstream.url)) as client:
            body = body_of(Sampling("fault:html"), ALL, "1 + 1?", n=1, first=0)

            async def send() -> Reply:
                for error in kept:
                    assert (error.__traceback__, error.__context__, error.__cause__) == (None, None, None)
                try:
                    return await client.sample(body, 1)
                except TryError as error:
                    kept.append(error)
                    raise

            await persistently(Pace(1), send, tries=2)

    with pytest.raises(TryError, match="HTML"):
        asyncio.run(twice())
    assert len(kept) == 2


def test_long_replies_wait_for_room_and_give_it_back() -> None:
    async def task() -> None:
        room, order = Room(100), []

        async def one(name: str, size: int) -> None:
            with Hold(room) as hold:
                await hold.take(size)
                order.append(name)
                assert 0 <= room.free <= 100
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(one(f"{size}", size)) for size in (80, 90, 70, 10)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert order == ["80", "70", "10"]
        assert room.free == 100

    asyncio.run(task())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "index", "message", "content", "logprobs", "logprob", "usage", "error", "detail"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(body=JSON, n=st.integers(1, 4))
def test_no_json_at_all_makes_the_reader_stumble(body: object, n: int) -> None:
    for content in (
        body,
        {"choices": body},
        {"choices": [body] * 2},
        {"choices": [{"message": body, "logprobs": body}]},
    ):
        with suppress(TryError):
            reply = read_reply(parsed(json.dumps(content).encode()), n)
            assert set(reply.good) | set(reply.wrong) == set(range(n))
            assert not set(reply.good) & set(reply.wrong)


def test_numbers_no_float_can_hold_are_no_logprob() -> None:
    entries = [{"logprob": 10**400}, {"logprob": -0.5}]
    body = {"choices": [{"message": {"content": "x"}, "logprobs": {"content": entries}}]}
    assert read_reply(parsed(json.dumps(body).encode()), 1).good[0].logprob is None


@given(body=st.binary(max_size=200))
def test_no_bytes_at_all_make_the_reader_stumble(body: bytes) -> None:
    with pytest.raises(TryError):
        read_reply(parsed(body), 1)


def test_a_good_server_is_asked_once(upstream: FaultUpstream) -> None:
    assert found(upstream, "good") == Abilities(16, True, True, True)
    assert len(upstream.asked("good", probes=True)) - len(upstream.asked("good")) == 1


def test_a_server_that_ignores_n_is_known_after_one_request(upstream: FaultUpstream) -> None:
    assert found(upstream, "fault:no-n").most == 1
    assert len([e for e in upstream.asked("fault:no-n", probes=True) if e["prompt"] == QUESTION]) == 1


@pytest.mark.parametrize(("slots", "n", "most"), [(8, 32, 8), (8, 10, 8), (6, 32, 6), (1, 4, 1), (8, 8, 8)])
def test_the_largest_n_of_a_server_with_few_slots_is_found(
    upstream: FaultUpstream, slots: int, n: int, most: int
) -> None:
    able = found(upstream, f"fault:slots@{slots}", n)
    assert able.most == most
    assert able.logprobs


@pytest.mark.parametrize(
    ("refused", "able"),
    [
        ("n", Abilities(1, True, True, True)),
        ("logprobs", Abilities(16, False, True, True)),
        ("logprobs+seed", Abilities(16, False, False, True)),
        ("n+logprobs+seed", Abilities(1, False, False, True)),
    ],
)
def test_parameters_that_a_server_refuses_are_left_away(upstream: FaultUpstream, refused: str, able: Abilities) -> None:
    assert found(upstream, f"fault:picky@{refused}") == able


def test_a_server_that_repeats_one_sample_is_asked_for_each_by_itself(upstream: FaultUpstream) -> None:
    assert found(upstream, "fault:same").most == 1
    assert found(upstream, "fault:same", temperature=0.0).most == 16  # there they should be the same


def test_a_server_without_logprobs_is_known(upstream: FaultUpstream) -> None:
    assert not found(upstream, "fault:no-logprobs", n=1).logprobs
    assert not found(upstream, "fault:no-usage", n=1).usage


@pytest.mark.parametrize(
    ("model", "asked", "says"),
    [
        ("fault:401", 1, r"refuses to sample: HTTP 401.*\$OPENAI_API_KEY"),
        ("fault:404", 1, "refuses to sample: HTTP 404.*--upstream end in /v1"),
        ("fault:422", 4, "refuses to sample: HTTP 422"),
        ("fault:html?anything", 3, "returns no sample: the reply is HTML"),
    ],
)
def test_a_server_that_gives_nothing_is_one_line(upstream: FaultUpstream, model: str, asked: int, says: str) -> None:
    before = len(upstream.asked(model, probes=True))
    with pytest.raises(UpstreamError, match=says) as raised:
        found(upstream, model)
    assert CANARY not in str(raised.value)
    assert len(upstream.asked(model, probes=True)) - before == asked


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("localhost:8000", "http://"),
        ("ftp://host/v1", "http://"),
        ("http://", "http://"),
        ("http://host:port/v1", "cannot read"),
        ("http://me:secret@host/v1", "no user or password"),
        ("http://host/v1?key=secret", "must not contain '?'"),
        ("http://secret..example/v1", "cannot read"),
        ("http://" + "\u00e4" * 70 + ".example/v1", "cannot read"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_showing_it(text: str, says: str) -> None:
    with pytest.raises(SettingError, match=says) as raised:
        read_address(text)
    assert "secret" not in str(raised.value)


def test_the_key_comes_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("OTHER", "sk-other-key-0000")
    assert read_address("http://h/v1").key == CANARY
    assert read_address("http://h/v1", "OTHER").key == "sk-other-key-0000"
    assert CANARY not in repr(read_address("http://h/v1"))
    monkeypatch.setenv("OTHER", "two words")
    for name in ("OTHER", "NO_SUCH_KEY", "sk-canary-typed-as-name"):
        with pytest.raises(SettingError) as raised:
            read_address("http://h/v1", name)
        assert "sk-canary" not in str(raised.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"temperature": float("nan")},
        {"temperature": -1},
        {"top_p": 0},
        {"top_p": 2},
        {"max_tokens": 0},
        {"seed": -1},
    ],
)
def test_parameters_no_server_can_do_are_refused_before_any_is_asked(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        Sampling("m", **wrong)  # type: ignore[arg-type]
