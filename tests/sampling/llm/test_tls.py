"""Over https the key is only sent to a server whose certificate is trusted, and what is cut is never whole."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm import connections
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.connections import tls_context
from steelyard.sampling.llm.faults import GoneError, LateError, TryError
from tests.sampling.llm.conftest import OPENSSL
from tests.sampling.llm.http_servers import GOOD, Server, ask, good, until_shared

KEY = "a-key-that-nobody-else-may-see"


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
        async with Client(Address(base)) as client:
            await until_shared(client, server)
            opened = server.opened
            assert [await ask(client, b"{}" * 2**20) for _ in range(3)] == [[777]] * 3
            assert server.opened == opened

    served(trusted, "ours", server, talking)
    assert set(chosen) == {"http/1.1"}


def test_a_connection_that_a_trusted_server_has_closed_is_not_used_again(trusted: Path) -> None:
    async def closing(_: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await writer.drain()
        writer.close()

    server = Server(closing)

    async def talking(base: str) -> None:
        async with Client(Address(base)) as client:
            for _ in range(3):
                assert await ask(client) == [777]
                await asyncio.sleep(0.05)

    served(trusted, "ours", server, talking)
    assert server.opened == 3


@pytest.mark.parametrize(
    ("name", "trusts", "why"),
    [
        ("ours", "other", "self.signed certificate"),
        ("other", "other", "IP address mismatch"),
        ("expired", "expired", "certificate has expired"),
    ],
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
            with pytest.raises(GoneError, match=r"the TLS handshake failed \([a-z ]+\)$"):
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
        async with Client(Address(f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}", KEY)) as client:
            with pytest.raises(LateError, match=r"no connection within 0.2 s"):
                await ask(client)
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
            with pytest.raises(TryError, match=r"it closed before the reply was complete|JSON"):
                await client.request("POST", "/chat", {})

    served(trusted, "ours", Server(cutting), talking)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_certificate_authority_of_ones_own_is_trusted(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(certificates / "ours.pem"))
    answers: list[object] = []

    async def talking(base: str) -> None:
        async with Client(Address(base, KEY)) as client:
            answers.append(await ask(client))

    served(certificates, "ours", Server(good), talking)
    assert answers == [[777]]


@pytest.mark.parametrize(
    ("variable", "also"),
    [
        ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"),
        ("CURL_CA_BUNDLE", "SSL_CERT_FILE"),
        ("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
        ("SSL_CERT_FILE", "CURL_CA_BUNDLE"),
    ],
)
def test_the_certificates_of_several_variables_are_all_trusted(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, variable: str, also: str
) -> None:
    monkeypatch.setenv(also, str(certificates / "other.pem"))
    test_a_certificate_authority_of_ones_own_is_trusted(certificates, monkeypatch, variable)


@pytest.mark.parametrize("variable", ["SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"])
def test_a_folder_of_certificates_is_trusted(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    name = [OPENSSL, "x509", "-in", "ours.pem", "-noout", "-subject_hash"]
    hashed = subprocess.run(name, cwd=certificates, check=True, capture_output=True, text=True).stdout.strip()
    shutil.copy(certificates / "ours.pem", tmp_path / f"{hashed}.0")
    monkeypatch.setenv(variable, str(tmp_path))
    answers: list[object] = []

    async def talking(base: str) -> None:
        async with Client(Address(base, KEY)) as client:
            answers.append(await ask(client))

    served(certificates, "ours", Server(good), talking)
    assert answers == [[777]]


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "STEELYARD_CLIENT_CERT"])
def test_a_file_that_holds_no_certificate_is_an_error_that_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    async def run() -> None:
        async with Client(Address("https://127.0.0.1:1")):
            pass

    (tmp_path / "empty.pem").write_text("")
    for name in ("empty.pem", "missing.pem"):
        monkeypatch.setenv(variable, str(tmp_path / name))
        with pytest.raises(SettingError, match=rf"^\${variable} \(.*{name}\) is not"):
            asyncio.run(run())


def test_a_server_that_asks_for_a_certificate_is_shown_ours(
    trusted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(trusted / "other.pem"))
    asks.load_cert_chain(trusted / "ours.pem", trusted / "ours.key")
    asks.verify_mode = ssl.CERT_REQUIRED

    async def run() -> object:
        listening = await asyncio.start_server(server, "127.0.0.1", 0, ssl=asks)
        try:
            async with Client(Address(f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}")) as client:
                return await ask(client)
        finally:
            listening.close()
            await server.end()

    server = Server(good)
    with pytest.raises(TryError):
        asyncio.run(run())
    own = tmp_path / "own.pem"
    own.write_bytes((trusted / "other.pem").read_bytes() + (trusted / "other.key").read_bytes())
    monkeypatch.setenv("STEELYARD_CLIENT_CERT", str(own))
    assert asyncio.run(run()) == [777]


def test_the_system_s_certificates_are_not_trusted_beside_those_of_a_variable(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificates / "ours.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert len(tls_context().get_ca_certs()) == 1


def test_a_file_of_certificates_that_is_none_is_one_line_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(SettingError, match=r"\$SSL_CERT_FILE .*: correct it, or unset it"):
        tls_context()
