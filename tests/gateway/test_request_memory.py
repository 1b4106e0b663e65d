"""The memory of a request in flight is bounded whatever its body contains, as measured on a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from steelyard.gateway.messages.json_body import MAX_VALUES, has_too_many_values, read_members
from tests.gateway.gateways import Gateway, process, resident
from tests.gateway.outcomes import attempts
from tests.gateway.rows import rows
from tests.upstreams import FaultUpstream
from tests.waiting import until

SIZE = 8 * 2**20 - 2**10  # bytes of a body, just below the limit
TOGETHER = 8  # bodies in flight
PER_BODY = 20  # MB: twice the body, which is there twice while its last part arrives, and some room
SPARE = 16  # MB: the first requests of this kind, and the body that is being read
TINY = {"objects": "{}", "lists": "[]", "texts": '""', "named": '{"a":0}', "numbers": "1"}


def body(field: str, thing: str, prompt: str, model: str) -> bytes:
    """A request with as many of one thing in a field as there is room for; a `thing` of one letter is a long text."""
    messages = json.dumps([{"role": "user", "content": prompt}])
    head = f'{{"model": "{model}", "messages": {messages}, "steelyard": {{"n": 1}}, "{field}": '
    left = SIZE - len(head)
    value = (
        f'"{thing * left}"'
        if len(thing) == 1 and thing.isalpha()
        else f"[{','.join([thing] * (left // (len(thing) + 1)))}]"
    )
    return f"{head}{value}}}".encode()


def growth(upstream: FaultUpstream, model: str, work: Callable[[Gateway], None]) -> float:
    """By how many MB the memory of a server grows at most while something is done."""
    with process(upstream.url, "--method", "majority", model=model) as running:
        assert running.chat("first", model, steelyard={"n": 1}).status == 200
        before = resident(running)
        work(running)
        return resident(running, peak=True) - before


@pytest.mark.parametrize("thing", rows(list(TINY), "objects"))
def test_bodies_of_countless_values_are_refused_and_take_little_memory(upstream: FaultUpstream, thing: str) -> None:
    content = body("x", TINY[thing], "countless", "good")

    def work(running: Gateway) -> None:
        with ThreadPoolExecutor(TOGETHER) as clients:
            replies = list(
                clients.map(lambda _: running.send("POST", "/v1/chat/completions", content), range(TOGETHER))
            )
        assert {reply.status for reply in replies} == {400}
        assert f"more than {MAX_VALUES:,} values" in replies[0].error["message"]

    assert growth(upstream, "good", work) < TOGETHER * PER_BODY + SPARE
    assert attempts(upstream, "countless") == 0


@pytest.mark.parametrize("case", rows([("x", True), ("x", False), ("user", False)], ("x", True)))
def test_bodies_in_flight_take_little_more_than_their_size(upstream: FaultUpstream, case: tuple[str, bool]) -> None:
    field, voted = case
    prompt = f"held {field} {voted}"
    model = f"fault:held?{prompt}"
    content = body(field, "a", prompt, "steelyard/majority" if voted else model)

    def work(running: Gateway) -> None:
        with ThreadPoolExecutor(TOGETHER) as clients:
            replies = [clients.submit(running.send, "POST", "/v1/chat/completions", content) for _ in range(TOGETHER)]
            until(lambda: attempts(upstream, prompt) == TOGETHER)
            upstream.release(prompt)
            assert {reply.result().status for reply in replies} == {200}

    assert growth(upstream, model, work) < TOGETHER * PER_BODY + SPARE


def test_signs_within_texts_are_not_values() -> None:
    text = json.dumps({"x": '{"a\\": [1, 2],' * MAX_VALUES}).encode()
    assert not has_too_many_values(text)
    assert has_too_many_values(b"[" + b'"",' * MAX_VALUES + b'""]')
    assert has_too_many_values(b'["\\\\",' * (MAX_VALUES + 1))


def test_every_byte_of_a_field_that_is_not_read_goes_on_as_it_came() -> None:
    written = '{"caf\u00e9": [1.0, "\U0001f600 \\u00e9"],"\\u0061" : 1e2, "b":{ }}'.encode()
    members = read_members(written)
    assert list(members.values) == ["caf\u00e9", "a", "b"]
    assert members.encoded(b=2) == '{"caf\u00e9": [1.0, "\U0001f600 \\u00e9"],"\\u0061" : 1e2,"b":2}'.encode()
    assert members.values["caf\u00e9"] == [1.0, "\U0001f600 \u00e9"]
