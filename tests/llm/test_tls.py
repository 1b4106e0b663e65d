"""Over https the key is only sent to a server whose certificate is trusted, and what is cut is never whole."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from steelyard.llm import connections
from steelyard.llm.address import Address
from steelyard.llm.client import Client
from steelyard.llm.connections import Connections, NoConnectionError
from steelyard.llm.faults import GoneError, TryError
from tests.llm.http_servers import GOOD, Server, good, spoilt, whole

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="no openssl makes the certificates")
NEW = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
KEY = "a-key-that-nobody-else-may-see"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two certificates with their keys: one of this address, one of another name."""
    folder = tmp_path_factory.mktemp("certificates")
    for name, who in (("ours", "IP:127.0.0.1"), ("other", "DNS:other.example")):
        files = ["-addext", f"subjectAltName={who}", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        subprocess.run([str(OPENSSL), *NEW.split(), *files], cwd=folder, check=True, capture_output=True)
    return folder


def served(certificates: Path, name: str, server: Server, talking: Callable[[str], Awaitable[None]]) -> None:
    """Talk to a server that shows the certificate of this name."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / f"{name}.pem", certificates / f"{name}.key")
    context.set_alpn_protocols(["h2", "http/1.1"])

    async def run() -> None:
        listening = await asyncio.start_server(server, "127.0.0.1", 0, ssl=context)
        try:
            async with asyncio.timeout(300):
                await talking(f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
        finally:
            listening.close()
            await server.end()

    asyncio.run(run())


@pytest.fixture
def trusted(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ours.pem"))
    return certificates


def test_a_trusted_server_is_asked_over_one_connection_as_http_1(trusted: Path) -> None:
    chosen: list[str | None] = []

    async def noting(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        writer.write(GOOD)

    server = Server(noting)

    async def talking(base: str) -> None:
        made = Connections(base, {})
        assert [await whole(made, b"{}" * 2**20) for _ in range(3)] == [b"seven"] * 3
        made.close()

    served(trusted, "ours", server, talking)
    assert server.opened == 1
    assert chosen == ["http/1.1"] * 3


def test_a_connection_that_a_trusted_server_has_closed_is_not_used_again(trusted: Path) -> None:
    async def closing(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await writer.drain()
        writer.close()

    server = Server(closing)

    async def talking(base: str) -> None:
        made = Connections(base, {})
        for _ in range(3):
            assert await whole(made) == b"seven"
            await spoilt(made)
        made.close()

    served(trusted, "ours", server, talking)
    assert server.opened == 3


@pytest.mark.parametrize(
    ("name", "trusts", "why"),
    [("ours", "other", "self.signed certificate"), ("other", "other", "IP address mismatch")],
)
def test_the_key_is_not_sent_to_a_server_with_a_wrong_certificate_and_the_reason_names_it(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, name: str, trusts: str, why: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / f"{trusts}.pem"))
    server = Server(good)

    async def talking(base: str) -> None:
        async with Client(Address(base, KEY)) as client:
            with pytest.raises(GoneError, match=f"its certificate is not trusted: .*{why}") as raised:
                await client.request("POST", "/chat", {})
        assert "\n" not in raised.value.reason
        await asyncio.sleep(0.05)

    served(certificates, name, server, talking)
    assert server.opened == 0, "no connection came about, over which anything could be sent"


def test_a_server_of_plain_http_is_told_from_one_that_is_not_there() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert KEY.encode() not in await reader.read(1024)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def run() -> None:
        listening = await asyncio.start_server(plain, "127.0.0.1", 0)
        async with Client(Address(f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}", KEY)) as client:
            with pytest.raises(GoneError, match=r"it does not speak TLS as we do \([a-z ]+\)$"):
                await client.request("POST", "/chat", {})
        listening.close()

    asyncio.run(run())


def test_a_server_that_hangs_in_the_handshake_ends_in_the_limit_of_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECT", 0.2)
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert KEY.encode() not in await reader.read()
        writer.close()
        left.set()

    async def run() -> None:
        listening = await asyncio.start_server(silent, "127.0.0.1", 0)
        made = Connections(f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}", {"Authorization": KEY})
        with pytest.raises(NoConnectionError) as raised:
            await whole(made)
        assert raised.value.why is None
        await asyncio.wait_for(left.wait(), 300)
        listening.close()

    asyncio.run(run())


@pytest.mark.parametrize("cleanly", [True, False])
@pytest.mark.parametrize("length", [b"", b"Content-Length: 20\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_a_reply_that_is_cut_is_an_error_with_and_without_a_last_word(
    trusted: Path, length: bytes, cleanly: bool
) -> None:
    async def cutting(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        piece = b'{"choices": [1, 2'
        chunk = b"40\r\n" if b"chunked" in length else b""
        writer.write(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n" + chunk + piece)
        await writer.drain()
        await asyncio.sleep(0.02)
        if not cleanly:
            writer.transport.abort()
        raise ConnectionError

    async def talking(base: str) -> None:
        async with Client(Address(base, KEY)) as client:
            with pytest.raises(TryError, match=r"it ended before the reply did|JSON"):
                await client.request("POST", "/chat", {})

    served(trusted, "ours", Server(cutting), talking)
