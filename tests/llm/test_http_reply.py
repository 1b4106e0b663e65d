"""A reply is read the same however it is cut into pieces, and what could be read in two ways is refused."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.llm.http_reply import LONGEST_HEAD, HttpReply, read_head
from steelyard.llm.wire import Wire, WireError

SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nseven"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nsev\r\n2;name=value\r\nen\r\n0\r\nTrailer: 1\r\n\r\n"
)
CLOSED = b"HTTP/1.0 200\r\n\r\nseven"
EARLY = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + SIZED


async def _read(pieces: list[bytes]) -> tuple[HttpReply, bytes]:
    """Read a reply that comes in these pieces, after which the connection ends."""
    wire = Wire()

    async def come() -> None:
        for piece in pieces:
            wire.data_received(piece)
            await asyncio.sleep(0)
        wire.connection_lost(None)

    async with asyncio.TaskGroup() as group:
        group.create_task(come())
        reply = await read_head(wire)
        body = b""
        while part := await reply.part():
            body += part
        return reply, body
    raise AssertionError


def read(*pieces: bytes) -> tuple[HttpReply, bytes]:
    try:
        return asyncio.run(_read(list(pieces)))
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


@pytest.mark.parametrize("reply", [SIZED, CHUNKED, CLOSED, EARLY])
@given(cuts=st.lists(st.integers(0, 160), max_size=8))
def test_a_reply_is_the_same_however_it_is_cut_into_pieces(reply: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(reply)) for cut in cuts), len(reply)]
    found, body = read(*(reply[a:b] for a, b in pairwise(places)))
    assert (found.status, body) == (200, b"seven")


@pytest.mark.parametrize("reply", [SIZED, CHUNKED, CLOSED, EARLY])
def test_a_reply_may_come_byte_by_byte(reply: bytes) -> None:
    assert read(*(bytes([byte]) for byte in reply))[1] == b"seven"


@pytest.mark.parametrize("reply", [SIZED, CHUNKED])
def test_a_reply_that_is_cut_anywhere_is_never_taken_for_whole(reply: bytes) -> None:
    for length in range(len(reply)):
        with pytest.raises(WireError, match="it ended before the reply did"):
            read(reply[:length])


@pytest.mark.parametrize(
    "reply",
    [
        b"220 mail.example ESMTP",  # before its line ends
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nseven",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nseven",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nseven",
        b"HTTP/1.1 200 OK\r\nX-A: 1\r\n folded: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 099 Early\r\n\r\n" + SIZED,
        b"HTTP/1.1 200 OK\nContent-Length: 5\n\nseven",
        b"HTTP/1.1 200 OK\r\nX-A: 1\nX-B: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-A: 1\rX-B: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-A: 1\0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nseven\n0\n\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nb\r\nseven\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\nseven\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nseven0\r\n\r\n",
        SIZED + b"more",
        CHUNKED + b"more",
        b"HTTP/1.1 200 OK\r\nX-A: " + b"1" * LONGEST_HEAD + b"\r\n\r\n",
    ],
)
def test_what_could_be_read_in_two_ways_or_never_ends_is_no_http(reply: bytes) -> None:
    with pytest.raises(WireError, match="it does not speak HTTP"):
        read(reply)


@pytest.mark.parametrize("begun", [b"HTTP/1.1 200 OK\nContent-Length: 5\n\nseven", b"HTTP/1.1 200 OK\r\nX-A: 1\n"])
def test_lines_that_end_in_lf_alone_are_refused_before_the_connection_ends(begun: bytes) -> None:
    async def run() -> None:
        wire = Wire()
        wire.data_received(begun)
        await asyncio.wait_for(read_head(wire), 60)

    with pytest.raises(WireError, match="it does not speak HTTP"):
        asyncio.run(run())


def test_a_part_that_was_given_up_between_two_chunks_may_be_asked_for_again() -> None:
    async def run() -> bytes:
        wire = Wire()
        head, _, rest = CHUNKED.partition(b"2;name")
        wire.data_received(head)
        reply = await read_head(wire)
        found = await reply.part()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reply.part(), 0.01)
        assert not reply.leaves()
        wire.data_received(b"2;name" + rest)
        found += await reply.part()
        assert await reply.part() == b""
        return found

    assert asyncio.run(run()) == b"seven"


def test_headers_are_known_by_their_names_in_lower_case() -> None:
    reply = b"HTTP/1.1 429 Busy\r\nRetry-After:  7 \r\nContent-Length: 0\r\n\r\n"
    assert read(reply)[0].headers == {"retry-after": "7", "content-length": "0"}


@pytest.mark.parametrize(
    ("reply", "leaves"),
    [
        (SIZED, True),
        (CHUNKED, True),
        (CLOSED, False),
        (SIZED.replace(b"1.1", b"1.0"), False),
        (SIZED.replace(b"X-A: 1", b"Connection: Close"), False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
    ],
)
def test_a_reply_leaves_its_connection_to_another_unless_it_ends_with_it(reply: bytes, leaves: bool) -> None:
    assert read(reply)[0].leaves() is leaves


def test_chunks_that_came_together_are_one_part_of_the_body() -> None:
    async def first_part() -> bytes:
        wire = Wire()
        wire.data_received(CHUNKED)
        return await (await read_head(wire)).part()

    assert asyncio.run(first_part()) == b"seven"
