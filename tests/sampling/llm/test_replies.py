"""A reply is read the same however it is cut into pieces, and one that is truncated or not HTTP is an error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import TryError
from tests.sampling.llm.http_servers import Server, ask, talk

SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\n[777]"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[77\r\n2;name=value\r\n7]\r\n0\r\nTrailer: 1\r\n\r\n"
)
CLOSED = b"HTTP/1.0 200\r\n\r\n[777]"
EARLY = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + SIZED


def read(pieces: Sequence[bytes]) -> Any:
    """What a client reads from a reply that comes in these pieces, after which the connection ends."""

    async def answer(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0)
        raise ConnectionError

    content: list[Any] = []

    async def talking(client: Client) -> None:
        content.append(await ask(client))

    talk(Server(answer), talking)
    return content[0]


@pytest.mark.parametrize("reply", [SIZED, CHUNKED, CLOSED, EARLY])
@given(cuts=st.lists(st.integers(0, 160), max_size=8))
def test_a_reply_is_the_same_however_it_is_cut_into_pieces(reply: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(reply)) for cut in cuts), len(reply)]
    assert read([reply[a:b] for a, b in pairwise(places)]) == [777]


@pytest.mark.parametrize("reply", [SIZED, CHUNKED, CLOSED, EARLY])
def test_a_reply_may_come_byte_by_byte(reply: bytes) -> None:
    assert read([bytes([byte]) for byte in reply]) == [777]


@pytest.mark.parametrize("reply", [SIZED, CHUNKED])
def test_a_reply_that_is_cut_anywhere_is_never_taken_for_complete(reply: bytes) -> None:
    for length in range(1, len(reply), 3):
        with pytest.raises(TryError, match="it closed before the reply was complete"):
            read([reply[:length]])


@pytest.mark.parametrize(
    "reply",
    [
        b"220 mail.example ESMTP",  # before its line ends
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n[777]",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n[777]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-A: 1\0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\n[777]\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[777]0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-A: " + b"1" * 2**16 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: 1\r\n" * 2**12 + b"\r\n",
    ],
)
def test_what_could_be_read_in_two_ways_or_never_ends_is_no_http(reply: bytes) -> None:
    with pytest.raises(TryError, match="it does not speak HTTP") as raised:
        read([reply])
    assert "\n" not in raised.value.reason


def test_another_protocol_is_no_reply() -> None:
    with pytest.raises(TryError, match="HTTP 101"):
        read([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\n[777]"])


def test_cookies_are_not_sent_back() -> None:
    async def setting(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SIZED.replace(b"X-A: 1", b"Set-Cookie: session=1; Path=/"))

    server = Server(setting)

    async def talking(client: Client) -> None:
        for _ in range(2):
            await ask(client)

    talk(server, talking)
    assert not any(b"cookie" in request.lower() for request in server.requests)
