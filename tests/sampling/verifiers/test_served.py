"""Verifiers on a server: what is read from good replies, and what becomes of bad ones."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import ChatProtocol, TokenProtocol
from steelyard.sampling.verifiers.protocols import p_true
from steelyard.sampling.verifiers.runners.chat_server import ChatServer
from steelyard.sampling.verifiers.runners.vllm import Served
from steelyard.sampling.verifiers.scored_items import Item, Scores
from tests.sampling.llm.http_servers import Server
from tests.sampling.verifiers.fault_verifier import share
from tests.sampling.verifiers.plain_tokens import PlainTokens
from tests.sampling.verifiers.verifier_servers import fault_verifier

pytestmark = pytest.mark.usefixtures("short_pauses")
ITEMS = [Item(f"Question {i}?", [f"Step {j} of {i}." for j in range(1 + i % 4)]) for i in range(30)]


def expected(protocol: TokenProtocol, item: Item) -> list[float]:
    made = protocol.render(item.question, protocol.prepare(item.steps), PlainTokens())
    return [share(str(made.ids[: position + 1])) for position in made.positions]


async def served(url: str, name: str, items: list[Item]) -> tuple[dict[int, Scores | str], dict[str, object]]:
    protocol, _ = find_verifier(name)
    assert isinstance(protocol, TokenProtocol)
    runner = await Served.connect(protocol, PlainTokens(), Address(f"{url}/v1"))
    try:
        return {id(item): result async for item, result in runner.score(iter(items))}, runner.detected
    finally:
        await runner.close()


@pytest.mark.parametrize("kind", ["good", "tokens", "probabilities", "old", "shaky"])
def test_every_way_a_server_may_answer_gives_the_same_scores(tmp_path: Path, kind: str) -> None:
    protocol, _ = find_verifier("qwen-prm")
    assert isinstance(protocol, TokenProtocol)
    with fault_verifier(tmp_path, kind) as server:
        found, what = asyncio.run(served(server.url, "qwen-prm", ITEMS))
    for item in ITEMS:
        result = found[id(item)]
        assert isinstance(result, Scores), result
        assert result.steps == pytest.approx(expected(protocol, item), abs=1e-6)
    assert what["row"] == ("token" if kind == "tokens" else "tag")
    assert what["probabilities"] == (kind in ("probabilities", "old"))
    assert what["version"] == "0.0-test"


@pytest.mark.parametrize("name", ["math-shepherd", "versaprm"])
@pytest.mark.parametrize("kind", ["one-column", "one-probability"])
def test_one_column_is_the_logit_or_the_probability_of_the_good_word(tmp_path: Path, name: str, kind: str) -> None:
    protocol, _ = find_verifier(name)
    assert isinstance(protocol, TokenProtocol)
    with fault_verifier(tmp_path, kind) as server:
        found, what = asyncio.run(served(server.url, name, ITEMS[:4]))
    assert (what["columns"], what["probabilities"]) == (1, kind == "one-probability")
    for item in ITEMS[:4]:
        result = found[id(item)]
        assert isinstance(result, Scores), result
        assert result.steps == pytest.approx(expected(protocol, item), abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("few", "expected 2 for each of 2 steps"),
        ("nan", "not finite"),
        ("words", "no rows of numbers"),
        ("401", "refuses to score: HTTP 401"),
        ("500", "does not score: HTTP 500.*serve it with: vllm serve MODEL --runner pooling"),
    ],
)
def test_a_server_that_cannot_score_is_refused_at_the_start(tmp_path: Path, kind: str, said: str) -> None:
    with fault_verifier(tmp_path, kind) as server, pytest.raises(VerifierError, match=said):
        asyncio.run(served(server.url, "qwen-prm", ITEMS))


@pytest.mark.parametrize("kind", ["few", "nan", "words", "400"])
def test_one_bad_reply_fails_one_response(tmp_path: Path, kind: str) -> None:
    with fault_verifier(tmp_path, f"{kind}?Question 7?") as server:
        found, _ = asyncio.run(served(server.url, "qwen-prm", ITEMS))
    bad = [item.question for item in ITEMS if isinstance(found[id(item)], str)]
    assert bad == ["Question 7?"]


def test_the_length_a_server_takes_bounds_the_context(tmp_path: Path) -> None:
    long = Item("Why?", [f"We go on and on, {i}." for i in range(400)])
    with fault_verifier(tmp_path) as server:
        found, what = asyncio.run(served(server.url, "qwen-prm", [long]))
    result = found[id(long)]
    assert isinstance(result, Scores)
    assert result.truncated
    assert what["context"] == 3000


def test_no_server_is_one_sentence() -> None:
    said = "does not list models: no connection to http://127.0.0.1:9: .*refused.*; start the server or correct --upstr"
    with pytest.raises(VerifierError, match=said):
        asyncio.run(served("http://127.0.0.1:9", "qwen-prm", ITEMS))


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        ("401 Unauthorized", '{"error": "Unauthorized"}', "HTTP 401: Unauthorized; set the key in $OPENAI_API_KEY"),
        ("404 Not Found", '{"detail": "Not Found"}', "HTTP 404: Not Found; is a vLLM server there? Check --upstream"),
        ("200 OK", "[]", "does not list models; is a vLLM server there? Check --upstream"),
    ],
)
def test_a_server_that_lists_no_models_says_why(status: str, body: str, said: str) -> None:
    async def answer(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    async def run() -> None:
        server = Server(answer)
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        try:
            await served(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", "qwen-prm", ITEMS)
        finally:
            listening.close()
            await server.end()

    with pytest.raises(VerifierError, match=re.escape(said)):
        asyncio.run(run())


def test_a_server_that_asks_for_a_day_is_not_waited_for_where_the_pace_has_a_longest_pause(tmp_path: Path) -> None:
    protocol, _ = find_verifier("qwen-prm")
    assert isinstance(protocol, TokenProtocol)
    with fault_verifier(tmp_path, "day") as server:
        address, pace = Address(f"{server.url}/v1"), Pace(1, longest=60.0)
        with pytest.raises(VerifierError, match="the server asked for 86,400 s"):
            asyncio.run(Served.connect(protocol, PlainTokens(), address, pace=pace))
        assert len(server.asked()) == 1


async def asked(url: str, model: str, items: list[Item]) -> list[Scores | str]:
    runner = await ChatServer.connect(p_true.PROTOCOL, Address(f"{url}/v1"), model)
    try:
        found = {id(item): result async for item, result in runner.score(iter(items))}
        return [found[id(item)] for item in items]
    finally:
        await runner.close()


def test_p_true_is_what_the_server_gives_the_two_words(tmp_path: Path) -> None:
    with fault_verifier(tmp_path) as server:
        found = asyncio.run(asked(server.url, "good", ITEMS))
    assert isinstance(p_true.PROTOCOL, ChatProtocol)
    wanted = [share(p_true.render(item.question, item.steps)[0]["content"]) for item in ITEMS]
    assert [result.steps[0] for result in found if isinstance(result, Scores)] == pytest.approx(wanted)


def test_a_server_without_log_probabilities_is_found_by_one_request(tmp_path: Path) -> None:
    with fault_verifier(tmp_path) as server:
        with pytest.raises(VerifierError, match="returns no log-probabilities; use a server that returns top_logprobs"):
            asyncio.run(asked(server.url, "no-logprobs", ITEMS))
        assert len(server.asked()) == 1


def test_a_reply_with_neither_word_is_a_failure_and_no_zero(tmp_path: Path) -> None:
    with fault_verifier(tmp_path) as server:
        found = asyncio.run(asked(server.url, "neither?Question 3?", ITEMS))
    assert [i for i, result in enumerate(found) if isinstance(result, str)] == [3]
    assert "no expected word" in str(found[3])
