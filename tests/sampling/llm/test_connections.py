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

from steelyard.sampling.llm import connections
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import UNTIMED, Client
from steelyard.sampling.llm.faults import BusyError, LateError, RefusedError, TryError
from tests.sampling.llm.http_servers import GOOD, STREAM, Server, ask, good, talk, until_shared
from tests.waiting import PATIENCE


def test_requests_one_after_the_other_share_a_connection_and_requests_at_once_do_not() -> None:
    server = Server(good)

    async def talking(client: Client) -> None:
        await until_shared(client, server)
        opened = server.opened
        assert [await ask(client) for _ in range(3)] == [[777]] * 3
        assert server.opened == opened
        await asyncio.gather(*(ask(client) for _ in range(opened + 2)))
        assert server.opened > opened

    talk(server, talking)


def test_a_request_has_the_path_the_length_and_all_headers() -> None:
    server = Server(good)

    async def talking(client: Client) -> None:
        await ask(client, "é".encode(), {"x-request-id": "a"})

    talk(server, talking, "b")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert first == b"POST /v1/chat HTTP/1.1"
    assert {b"Authorization: Bearer b", b"x-request-id: a", b"Content-Length: 2"} <= set(lines)
    assert {b"Accept-Encoding: identity", b"Content-Type: application/json"} <= set(lines)
    assert any(line.startswith(b"Host: 127.0.0.1:") for line in lines)
    assert body == "é".encode()


def test_a_long_request_in_parts_arrives_as_one_body_with_its_length_each_time_it_is_sent() -> None:
    server = Server(good)
    text = bytes(range(97, 123)) * 80_000
    parts = (b"{", memoryview(text), b"}")

    async def talking(client: Client) -> None:
        for _ in range(2):
            await client.request("POST", "/chat", parts)

    talk(server, talking)
    assert len(server.requests) == 2
    for request in server.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        assert f"Content-Length: {len(text) + 2}".encode() in head.split(b"\r\n")
        assert b"chunked" not in head
        assert body == b"{" + text + b"}"


def test_a_header_that_holds_the_end_of_a_line_is_never_sent() -> None:
    server = Server(good)

    async def talking(client: Client) -> None:
        with pytest.raises(TryError, match="header injection"):
            await ask(client, b"{}", {"x-request-id": "a\r\nX-Other: b"})

    talk(server, talking)
    assert server.requests == []


def test_a_connection_that_the_server_has_closed_is_not_used_again() -> None:
    async def closing(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        writer.close()

    server = Server(closing)

    async def talking(client: Client) -> None:
        for _ in range(3):
            assert await ask(client) == [777]
            await asyncio.sleep(0.05)
        assert server.opened == 3

    talk(server, talking)


def test_a_connection_that_was_closed_while_we_were_busy_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "FRESH", 0.0)
    closed = queue.Queue[bool]()

    async def talking(base: str) -> None:
        async with Client(Address(base)) as client:
            client_is_trusting(client)
            for _ in range(3):
                assert await ask(client) == [777]
                assert closed.get(timeout=PATIENCE)  # nothing else is done until the server has closed the connection

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=_served_once_each, args=(listening, closed, 3))
        serving.start()
        asyncio.run(talking(f"http://127.0.0.1:{listening.getsockname()[1]}"))
        serving.join()


def client_is_trusting(client: Client) -> None:
    """Let a client reuse connections from the beginning, as it does when one has been quiet."""
    assert client._session is not None
    vars(client._session.connector)["_is_quiet"] = True


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
        with suppress(ConnectionError):
            await reader.read()  # until the other side has gone
        left.set()
        raise ConnectionError

    server = Server(endless)

    async def talking(client: Client) -> None:
        async with client.streamed("/chat", b"{}") as reply:
            assert await reply.content.readany() == b"seven"
        await left.wait()

    talk(server, talking)


def test_a_get_is_asked_again_when_its_connection_was_closed_and_a_post_is_not() -> None:
    async def once(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await reader.read(1)  # the next request over this connection
        raise ConnectionError

    async def talking(client: Client) -> None:
        client_is_trusting(client)
        assert await ask(client) == [777]
        assert await client.request("GET", "/models") == [777]
        with pytest.raises(TryError, match=r"it closed before the reply was complete|reset by peer"):
            await ask(client)

    talk(Server(once), talking)


def test_a_refusal_that_was_read_leaves_its_connection_to_the_next_request() -> None:
    async def busy(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 429 Busy\r\nContent-Length: 2\r\n\r\n{}")

    server = Server(busy)

    async def talking(client: Client) -> None:
        client_is_trusting(client)
        for _ in range(3):
            with pytest.raises(BusyError):
                await ask(client)
        assert server.opened == 1

    talk(server, talking)


def test_what_is_no_http_breaks_its_connection_off_also_where_it_ends_as_a_reply_does() -> None:
    async def wrong(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"5\r\nseven\r\nwrong\r\n\r\n0\r\n\r\n")

    server = Server(wrong)

    async def talking(client: Client) -> None:
        client_is_trusting(client)
        for _ in range(2):
            with pytest.raises(TryError, match="it does not speak HTTP"):
                await ask(client)
        assert server.opened == 2

    talk(server, talking)


@given(steps=st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_a_request_that_is_given_up_anywhere_leaves_nothing_to_the_next(steps: list[int]) -> None:
    async def slow(number: int, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in (STREAM[:9], STREAM[9:], b"4\r\n", f"{number + 1000}".encode(), b"\r\n0\r\n", b"\r\n"):
            writer.write(piece)
            await asyncio.sleep(0)

    server = Server(slow)

    async def talking(client: Client) -> None:
        client_is_trusting(client)
        for count in steps:
            task = asyncio.create_task(ask(client))
            for _ in range(count):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            assert await ask(client) == len(server.requests) + 999
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
        async with Client(Address(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")) as client:
            with pytest.raises(RefusedError, match="HTTP 413: large"):
                await ask(client, bytes(2**25))
            broken.set()
            await left.wait()
        listening.close()
        await asyncio.sleep(0.01)

    asyncio.run(run())


def test_a_request_that_is_given_up_while_nobody_reads_it_is_let_go_of_at_once() -> None:
    stuck, cancelled, closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
    received = 0  # bytes of the body

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        stuck.set()
        await cancelled.wait()
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        with suppress(ConnectionError):
            while part := await reader.read(2**16):
                received += len(part)
        writer.transport.abort()
        closed.set()

    async def run() -> None:
        listening = await asyncio.start_server(deaf, "127.0.0.1", 0, limit=2**10)
        async with Client(Address(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")) as client:
            request = asyncio.create_task(client.request("POST", "/chat", bytes(2**25)))
            await stuck.wait()
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request
            cancelled.set()
            async with asyncio.timeout(PATIENCE):
                await closed.wait()
        listening.close()
        await asyncio.sleep(0.01)

    asyncio.run(run())
    assert received < 2**25, "what was not sent is not sent later"


def test_a_stream_whose_last_chunk_is_there_and_unread_leaves_its_connection() -> None:
    async def streaming(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"5\r\nseven\r\n0\r\n\r\n")

    server = Server(streaming)

    async def talking(client: Client) -> None:
        client_is_trusting(client)
        for _ in range(3):
            async with client.streamed("/chat", b"{}") as reply:
                assert await reply.content.readany() == b"seven"
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

    async def talking(client: Client) -> None:
        async with client.streamed("/chat", b"{}") as reply:
            before = -1
            while before != sent:
                before = sent
                await asyncio.sleep(0.2)
            assert sent < 2**25, "what the kernel holds, and a little here"
            total = 0
            while part := await reply.content.readany():
                total += len(part)
            assert total == 2**26

    talk(server, talking)


def test_a_connection_that_is_reset_is_an_error_on_one_line() -> None:
    async def reset(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()
        raise ConnectionError

    async def talking(client: Client) -> None:
        with pytest.raises(TryError, match=r"it closed before the reply was complete|reset by peer"):
            await ask(client)

    talk(Server(reset), talking)


def test_connections_that_are_not_used_are_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE", 0.1)
    closed = asyncio.Event()

    async def once(_: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await reader.read()
        closed.set()
        raise ConnectionError

    async def talking(client: Client) -> None:
        await ask(client)
        await closed.wait()

    talk(Server(once), talking)


def test_a_try_that_its_caller_ends_is_not_ended_before() -> None:
    async def slow(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(GOOD)

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
