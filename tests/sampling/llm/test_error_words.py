"""What a server, or a proxy before it, says that went wrong reaches the user in its words and without its markup."""

from __future__ import annotations

import asyncio
import gzip
import time

import pytest

from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import BusyError, RefusedError, StatusError, TryError, error_message
from tests.sampling.llm.http_servers import Server

PAGE = """<html>\r
<head><title>{0}</title></head>\r
<body>\r
<center><h1>{0}</h1></center>\r
<hr><center>nginx/1.22.1</center>\r
</body>\r
</html>\r
"""


def refused(status: str, body: bytes, headers: bytes = b"") -> TryError:
    """What a client says of a reply with this status."""

    async def answer(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n".encode()
        writer.write(head + headers + b"\r\n" + body)

    async def run() -> TryError:
        server = Server(answer)
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        async with Client(Address(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1")) as client:
            with pytest.raises(TryError) as raised:
                await client.request("POST", "/chat", {})
        listening.close()
        await server.end()
        return raised.value

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("502 Bad Gateway", StatusError),
        ("504 Gateway Time-out", StatusError),
        ("503 Service Temporarily Unavailable", BusyError),
        ("413 Request Entity Too Large", RefusedError),
    ],
)
def test_of_the_page_of_a_proxy_its_title_is_told(status: str, kind: type[TryError]) -> None:
    error = refused(status, PAGE.format(status).encode())
    number, _, words = status.partition(" ")
    assert (type(error), error.reason) == (kind, f"HTTP {number}: {words}")


def test_a_page_without_a_title_is_told_as_it_is_and_one_with_many_costs_no_time() -> None:
    assert error_message(b"<p>it is broken</p>") == "<p>it is broken</p>"
    assert error_message(b"\xef\xbb\xbf<!DOCTYPE html><TITLE lang=en>\n a &lt; b </TITLE>") == "a < b"
    assert error_message(b"no <title>page</title>") == "no <title>page</title>"
    before = time.process_time()
    for hostile in (b"<title" * 11_000, b"<title>" * 9_000, b"<" * 65_000):
        error_message(hostile)
    assert time.process_time() - before < 1


def test_an_error_that_is_compressed_all_the_same_is_told_by_its_status_alone() -> None:
    error = refused("500 Oh", gzip.compress(b"something went wrong"), b"Content-Encoding: gzip\r\n")
    assert error.reason == "HTTP 500"
