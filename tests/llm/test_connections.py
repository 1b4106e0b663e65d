"""A connection is used again where it may be, and what one request leaves behind reaches no other."""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.llm import connections
from steelyard.llm.address import Address
from steelyard.llm.client import UNTIMED, Client
from steelyard.llm.connections import Connections
from steelyard.llm.faults import BusyError, LateError
from steelyard.llm.wire import AHEAD, WireError
from tests.llm.http_servers import GOOD, STREAM, Server, good, spoilt, talk, whole
from tests.waiting import PATIENCE


def test_requests_one_after_the_other_share_a_connection_and_requests_at_once_do_not() -> None:
    server = Server(good)

    async def talking(made: Connections) -> None:
        assert [await whole(made) for _ in range(3)] == [b"seven"] * 3
        assert server.opened == 1
        await asyncio.gather(*(whole(made) for _ in range(4)))
        assert 2 <= server.opened <= 4

    talk(server, talking)


def test_a_request_has_the_path_the_length_and_all_headers() -> None:
    server = Server(good)

    async def talking(made: Connections) -> None:
        await whole(made, "é".encode(), {"x-request-id": "a"})

    talk(server, talking, {"Authorization": "Bearer b"})
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert first == b"POST /v1/chat HTTP/1.1"
    assert {b"Authorization: Bearer b", b"x-request-id: a", b"Content-Length: 2"} <= set(lines)
    assert any(line.startswith(b"Host: 127.0.0.1:") for line in lines)
    assert body == "é".encode()


def test_a_header_that_holds_the_end_of_a_line_is_never_sent() -> None:
    server = Server(good)

    async def talking(made: Connections) -> None:
        with pytest.raises(ValueError, match="end of a line"):
            await whole(made, b"{}", {"x-request-id": "a\r\nX-Other: b"})

    talk(server, talking)
    assert server.requests == []


def test_what_comes_behind_a_reply_later_reaches_no_other_request() -> None:
    async def chatty(number: int, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        if number == 0:
            await asyncio.sleep(0.05)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")

    server = Server(chatty)

    async def talking(made: Connections) -> None:
        assert await whole(made) == b"seven"
        await spoilt(made)
        assert await whole(made) == b"seven"
        assert server.opened == 2

    talk(server, talking)


def test_a_connection_that_the_server_has_closed_is_not_used_again() -> None:
    async def closing(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        writer.close()

    server = Server(closing)

    async def talking(made: Connections) -> None:
        for _ in range(3):
            assert await whole(made) == b"seven"
            await spoilt(made)
        assert server.opened == 3

    talk(server, talking)


def test_a_connection_that_was_closed_while_we_were_busy_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "FRESH", 0.0)
    closed = queue.Queue[bool]()

    async def talking(base: str) -> None:
        made = Connections(base, {})
        for _ in range(3):
            assert await whole(made) == b"seven"
            assert closed.get(timeout=PATIENCE)  # nothing else is done until the server has closed the connection
        made.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=_served_once_each, args=(listening, closed, 3))
        serving.start()
        asyncio.run(talking(f"http://127.0.0.1:{listening.getsockname()[1]}"))
        serving.join()


def _served_once_each(listening: socket.socket, closed: queue.Queue[bool], times: int) -> None:
    """Answer one request of each connection and close it: in a thread, so that nobody waits for the client."""
    for _ in range(times):
        taken, _ = listening.accept()
        with taken:
            taken.recv(2**16)
            taken.sendall(GOOD)
        closed.put(True)


def test_a_reply_that_is_not_read_to_its_end_breaks_its_connection_off() -> None:
    left = asyncio.Event()

    async def endless(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"5\r\nseven\r\n")
        await reader.read()  # until the other side has gone
        left.set()
        raise ConnectionError

    server = Server(endless)

    async def talking(made: Connections) -> None:
        async with made.asked("POST", "/chat", b"{}", {}) as reply:
            assert await reply.part() == b"seven"
        await left.wait()

    talk(server, talking)


def test_what_is_only_asked_once_never_meets_a_connection_that_the_server_is_about_to_close() -> None:
    async def once(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await reader.read(1)  # the next request over this connection
        raise ConnectionError

    async def talking(made: Connections) -> None:
        assert await whole(made) == b"seven"
        async with made.asked("GET", "/models", None, {}) as reply:
            assert await reply.part() == b"seven"
        with pytest.raises(WireError, match=r"it ended before the reply did|reset by peer"):
            await whole(made)

    talk(Server(once), talking)


def test_a_refusal_that_was_read_leaves_its_connection_to_the_next_request() -> None:
    async def busy(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 429 Busy\r\nContent-Length: 2\r\n\r\n{}")

    server = Server(busy)

    async def refused(made: Connections) -> None:
        async with made.asked("POST", "/chat", b"{}", {}) as reply:
            assert await reply.part() == b"{}"
            raise BusyError("as the client does")

    async def talking(made: Connections) -> None:
        for _ in range(3):
            with pytest.raises(BusyError):
                await refused(made)
        assert server.opened == 1

    talk(server, talking)


def test_what_is_no_http_breaks_its_connection_off_also_where_it_ends_as_a_reply_does() -> None:
    async def wrong(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"5\r\nseven\r\nwrong\r\n\r\n0\r\n\r\n")

    server = Server(wrong)

    async def talking(made: Connections) -> None:
        for _ in range(2):
            with pytest.raises(WireError, match="it does not speak HTTP"):
                await whole(made)
        assert server.opened == 2

    talk(server, talking)


def test_a_connection_that_was_closed_with_all_others_is_not_kept() -> None:
    server = Server(good)

    async def talking(made: Connections) -> None:
        async with made.asked("POST", "/chat", b"{}", {}) as reply:
            assert await reply.part() == b"seven"
            made.close()
        assert await whole(made) == b"seven"

    talk(server, talking)
    assert server.opened == 2


@given(steps=st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_a_request_that_is_given_up_anywhere_leaves_nothing_to_the_next(steps: list[int]) -> None:
    async def slow(number: int, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in (STREAM[:9], STREAM[9:], b"2\r\n", f"{number:02}".encode(), b"\r\n0\r\n", b"\r\n"):
            writer.write(piece)
            await asyncio.sleep(0)

    server = Server(slow)

    async def talking(made: Connections) -> None:
        for count in steps:
            task = asyncio.create_task(whole(made))
            for _ in range(count):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            assert int(await whole(made)) == len(server.requests) - 1
        while sum(not writer.is_closing() for writer in server.writers) > 1:
            await asyncio.sleep(0.01)  # all were let go of but the one that is kept

    talk(server, talking)


def test_a_refusal_that_comes_while_a_long_request_is_sent_is_read() -> None:
    broken, left = asyncio.Event(), asyncio.Event()

    async def refusing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge")
        await broken.wait()
        with suppress(ConnectionError):
            await reader.read()
        writer.transport.abort()
        left.set()

    async def run() -> None:
        listening = await asyncio.start_server(refusing, "127.0.0.1", 0, limit=2**10)
        made = Connections(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", {})
        async with made.asked("POST", "/chat", bytes(2**25), {}) as reply:
            assert (reply.status, await reply.part()) == (413, b"large")
        broken.set()
        await left.wait()
        listening.close()
        await asyncio.sleep(0.01)

    asyncio.run(run())


def test_a_stream_whose_last_chunk_is_there_and_unread_leaves_its_connection() -> None:
    async def streaming(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"5\r\nseven\r\n0\r\n\r\n")

    server = Server(streaming)

    async def talking(made: Connections) -> None:
        for _ in range(3):
            async with made.asked("POST", "/chat", b"{}", {}) as reply:
                assert await reply.part() == b"seven"
        assert server.opened == 1

    talk(server, talking)


def test_a_server_waits_while_nobody_takes_what_it_sends() -> None:
    sent = 0

    async def pouring(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
        for _ in range(1024):
            writer.write(bytes(2**16))
            await writer.drain()
            sent += 2**16

    server = Server(pouring)

    async def talking(made: Connections) -> None:
        async with made.asked("POST", "/chat", b"{}", {}) as reply:
            before = -1
            while before != sent:
                before = sent
                await asyncio.sleep(0.2)
            assert sent < 2**25, "what the kernel holds, and AHEAD bytes here"
            total = 0
            while part := await reply.part():
                total += len(part)
            assert total == 2**26 > AHEAD

    talk(server, talking)


def test_a_connection_that_is_reset_is_an_error_on_one_line() -> None:
    async def reset(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()
        raise ConnectionError

    async def talking(made: Connections) -> None:
        with pytest.raises(WireError, match=r"it ended before the reply did|reset by peer"):
            await whole(made)

    talk(Server(reset), talking)


def test_connections_that_are_not_used_are_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE", 0.1)
    closed = asyncio.Event()

    async def once(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await reader.read()
        closed.set()
        raise ConnectionError

    async def talking(made: Connections) -> None:
        await whole(made)
        await closed.wait()

    talk(Server(once), talking)


def test_a_try_that_its_caller_ends_is_not_ended_before() -> None:
    async def slow(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(GOOD.replace(b"seven", b"[777]"))

    server = Server(slow)

    async def run() -> None:
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        base = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with Client(Address(base), try_timeout=0.1) as client:
            assert await client.request("POST", "/chat", {}, timeout=UNTIMED) == [777]
            with pytest.raises(LateError, match=r"no answer within 0.1 s"):
                await client.request("POST", "/chat", {})
        listening.close()
        await server.end()

    asyncio.run(run())
