"""With several keys, a request can be labelled only with the key that sent it, also after a restart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.gateway.caps import Caps
from steelyard.runs.feedback_journal import records
from tests.gateway.gateways import VOTE, Answered, Gateway, gateway
from tests.upstreams import FaultUpstream

ALICE, BOB = "key-of-alice-5b1d", "key-of-bob-e02c7"
MESSAGES = [{"role": "user", "content": "What is 3 + 4?"}]


def key_file(folder: Path, *keys: str) -> Path:
    path = folder / "keys"
    path.write_text("".join(f"{key}\n" for key in keys))
    return path


def ask(served: Gateway, key: str | None) -> str:
    """The id of a reply to a request that was sent with a key."""
    reply = served.send("POST", "/v1/chat/completions", {"model": VOTE, "messages": MESSAGES}, key=key)
    return str(reply.json["id"])


def label(served: Gateway, name: str, key: str | None, **more: Any) -> Answered:
    return served.send("POST", "/v1/feedback", {"id": name, "correct": True} | more, key=key)


def shape(refused: Answered, name: str) -> Any:
    """A refusal without the id it names and without what differs between any two replies."""
    varying = ("date", "x-request-id", "openai-processing-ms")
    headers = {header: value for header, value in refused.headers.items() if header not in varying}
    return refused.status, headers, refused.body.decode().replace(name, "ID")


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("owners")
    with gateway(upstream.url, feedback=folder / "feedback", key_file=key_file(folder, ALICE, BOB)) as running:
        yield running


def chat(served: Gateway) -> str:
    return ask(served, ALICE)


def streamed(served: Gateway) -> str:
    body = {"model": VOTE, "messages": MESSAGES, "stream": True}
    return str(served.send("POST", "/v1/chat/completions", body, key=ALICE).events[0]["id"])


def responses(served: Gateway) -> str:
    return str(served.send("POST", "/v1/responses", {"model": VOTE, "input": "3 + 4?"}, key=ALICE).json["id"])


def streamed_responses(served: Gateway) -> str:
    body = {"model": VOTE, "input": "3 + 4?", "stream": True}
    return str(served.send("POST", "/v1/responses", body, key=ALICE).events[-1]["response"]["id"])


def page(served: Gateway) -> str:
    events = served.send("POST", "/page/ask", {"model": VOTE, "messages": MESSAGES}, key=ALICE).events
    return str(events[-1]["decided"]["id"])


@pytest.mark.parametrize("request_id", [chat, streamed, responses, streamed_responses, page])
def test_another_keys_request_is_answered_like_an_unknown_id(
    served: Gateway, request_id: Callable[[Gateway], str]
) -> None:
    name = request_id(served)
    unknown = re.sub("[0-9a-f]{32}", 32 * "0", name)
    for more in ({}, {"correct": None, "answer": "7"}, {"correct": "yes"}):
        refused = label(served, name, BOB, **more)
        assert shape(refused, name) == shape(label(served, unknown, BOB, **more), unknown)
    assert label(served, name, BOB).error["code"] == "unknown_id"
    accepted = label(served, name, ALICE)
    assert (accepted.status, accepted.json["replaced"]) == (200, None), "the refused labels left no trace"
    assert label(served, name, BOB, correct=False).status == 404
    assert label(served, name, ALICE, correct=False).json["replaced"] == {"correct": True}


def test_owners_survive_a_restart_with_a_reordered_key_file(upstream: FaultUpstream, tmp_path: Path) -> None:
    folder = tmp_path / "feedback"
    with gateway(upstream.url, feedback=folder, key_file=key_file(tmp_path, ALICE, BOB)) as running:
        names = {key: ask(running, key) for key in (ALICE, BOB)}
    stored = (folder / "journal.jsonl").read_text() + (folder / "feedback.json").read_text()
    assert not any(key in stored for key in names)
    new = "key-of-carol-9a41"
    with gateway(upstream.url, feedback=folder, key_file=key_file(tmp_path, new, BOB, ALICE)) as running:
        for owner, name in names.items():
            for key in (ALICE, BOB, new):
                assert label(running, name, key).status == (200 if key == owner else 404)
    with gateway(upstream.url, feedback=folder, key_file=key_file(tmp_path, BOB)) as running:
        assert [label(running, names[key], BOB).status for key in (ALICE, BOB)] == [404, 200]


def test_owners_survive_trimming_of_the_journal(upstream: FaultUpstream, tmp_path: Path) -> None:
    folder, keys = tmp_path / "feedback", key_file(tmp_path, ALICE, BOB)
    with gateway(upstream.url, feedback=folder, key_file=keys, caps=Caps(feedback=10_000)) as running:
        first = ask(running, ALICE)
        assert label(running, first, ALICE).status == 200
        last = [ask(running, ALICE) for _ in range(30)][-1]
        assert len(list(records(folder))) < 32, "it was trimmed"
        for name in (first, last):
            assert [label(running, name, key).status for key in (BOB, ALICE)] == [404, 200]


def test_a_request_without_an_owner_can_be_labelled_only_on_a_server_with_at_most_one_key(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    folder, no_key = tmp_path / "feedback", {"STEELYARD_KEY": ""}
    with gateway(upstream.url, feedback=folder, environment=no_key) as running:
        name = ask(running, None)
        assert label(running, name, None).status == 200
    assert "owner" not in next(records(folder))
    with gateway(upstream.url, feedback=folder, key_file=key_file(tmp_path, ALICE)) as running:
        assert label(running, name, ALICE).status == 200
        owned = ask(running, ALICE)
    with gateway(upstream.url, feedback=folder, key_file=key_file(tmp_path, ALICE, BOB)) as running:
        assert [label(running, name, key).status for key in (ALICE, BOB)] == [404, 404]
    with gateway(upstream.url, feedback=folder, environment=no_key) as running:
        assert [label(running, request, None).status for request in (name, owned)] == [200, 404]
