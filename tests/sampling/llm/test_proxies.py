"""Servers are reached through the proxies set in the environment, which never see the key of an https server."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm.address import Address, proxy_for
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import GoneError, ProxyError, TryError, advice
from tests.sampling.llm.http_servers import Server, ask, good, until_shared
from tests.sampling.llm.proxy_servers import ProxyServer

KEY = "a-key-that-nobody-else-may-see"
HOST = "other.example"  # a name that only the proxy can resolve
LOGIN = "user:p%40ss"  # as in an address: the password is p@ss
Set = Callable[[str, str], None]


def through(
    set_variable: Set, *, login: str | None = None, written: str = "", refusal: bytes = b"", tls: Path | None = None
) -> tuple[Any, Server, ProxyServer]:
    """Ask a server three times through a proxy; what came, or the error, with the server and the proxy."""
    context = None
    if tls is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tls / "other.pem", tls / "other.key")
        set_variable("SSL_CERT_FILE", str(tls / "other.pem"))
    server, scheme = Server(good), "https" if tls else "http"

    async def run() -> tuple[Any, Server, ProxyServer]:
        listening = await asyncio.start_server(server, "127.0.0.1", 0, ssl=context)
        proxy = ProxyServer(listening.sockets[0].getsockname()[1], login, refusal)
        async with proxy.serving():
            set_variable(f"{scheme.upper()}_PROXY", f"http://{written}127.0.0.1:{proxy.port}")
            async with Client(Address(f"{scheme}://{HOST}:8443/v1", KEY)) as client:
                try:
                    content = [await ask(client) for _ in range(3)]
                    if tls:
                        await until_shared(client, server)
                except TryError as error:
                    return error, server, proxy
                finally:
                    listening.close()
                    await server.end()
        return content, server, proxy

    return asyncio.run(run())


@pytest.mark.parametrize(("login", "written"), [(None, ""), ("user:p@ss", f"{LOGIN}@")])
def test_an_https_server_is_reached_through_a_tunnel_that_never_sees_the_key(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, login: str | None, written: str
) -> None:
    content, server, proxy = through(monkeypatch.setenv, login=login, written=written, tls=certificates)
    assert content == [[777]] * 3
    assert len(proxy.requests) == server.opened < len(server.requests), "tunnels are reused"
    for request in proxy.requests:
        assert request.startswith(f"CONNECT {HOST}:8443 HTTP/1.1\r\n".encode())
        assert b"Bearer" not in request
        assert KEY.encode() not in request
    for request in server.requests:
        assert request.startswith(b"POST /v1/chat HTTP/1.1\r\n")
        assert f"Authorization: Bearer {KEY}\r\n".encode() in request
        assert b"proxy-authorization" not in request.lower()


@pytest.mark.parametrize(("login", "written"), [(None, ""), ("user:p@ss", f"{LOGIN}@")])
def test_an_http_server_is_asked_for_by_its_full_address(
    monkeypatch: pytest.MonkeyPatch, login: str | None, written: str
) -> None:
    content, _, proxy = through(monkeypatch.setenv, login=login, written=written)
    assert content == [[777]] * 3
    assert all(
        request.startswith(f"POST http://{HOST}:8443/v1/chat HTTP/1.1\r\n".encode()) for request in proxy.requests
    )


@pytest.mark.parametrize("tls", [True, False])
def test_a_proxy_that_asks_for_a_password_is_named_without_it(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, tls: bool
) -> None:
    error, server, proxy = through(
        monkeypatch.setenv, login="user:other", written=f"{LOGIN}@", tls=certificates if tls else None
    )
    name = "HTTPS_PROXY" if tls else "HTTP_PROXY"
    assert isinstance(error, ProxyError)
    assert error.reason == (
        f"no connection through the proxy http://***@127.0.0.1:{proxy.port} (set by {name}): "
        "it requires a user and a password (HTTP 407)"
    )
    assert advice(error) == "correct that variable, or add the server's host to NO_PROXY"
    assert server.requests == []


def test_a_proxy_that_refuses_a_host_is_named(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
    error, _, proxy = through(monkeypatch.setenv, refusal=refusal, tls=certificates)
    assert isinstance(error, ProxyError)
    assert f"http://127.0.0.1:{proxy.port} (set by HTTPS_PROXY): it refused the connection" in error.reason


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_down_is_named_and_not_the_server(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://user:secret@127.0.0.1:1")

    async def run() -> None:
        async with Client(Address(f"{scheme}://{HOST}/v1", KEY)) as client:
            await ask(client)

    with pytest.raises(ProxyError) as raised:
        asyncio.run(run())
    assert raised.value.reason == (
        "no connection to the proxy http://***@127.0.0.1:1 (set by ALL_PROXY): connection refused"
    )


def test_a_proxy_whose_name_nobody_knows_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "proxy.invalid:3128")

    async def run() -> None:
        async with Client(Address(f"https://{HOST}/v1")) as client:
            await ask(client)

    with pytest.raises(ProxyError, match=r"no connection to the proxy http://proxy.invalid:3128 \(set by https_proxy"):
        asyncio.run(run())


def test_a_server_whose_certificate_is_not_trusted_behind_a_proxy_is_not_the_proxys_fault(
    certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_variable(name: str, value: str) -> None:
        monkeypatch.setenv(name, value if name != "SSL_CERT_FILE" else str(certificates / "ours.pem"))

    error, server, _ = through(set_variable, tls=certificates)
    assert isinstance(error, GoneError)
    assert not isinstance(error, ProxyError)
    assert error.reason.startswith(f"no connection to https://{HOST}:8443/v1: its certificate is not trusted")
    assert server.requests == []


def test_netrc_changes_no_header(certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine {HOST} login me password mine\nmachine 127.0.0.1 login me password mine\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    content, server, proxy = through(monkeypatch.setenv, tls=certificates)
    assert content == [[777]] * 3
    assert all(f"Authorization: Bearer {KEY}\r\n".encode() in request for request in server.requests)
    assert not any(b"Basic" in request for request in (*server.requests, *proxy.requests))


@pytest.mark.parametrize(
    ("base", "variables", "proxy"),
    [
        ("https://h.example/v1", {}, None),
        ("https://h.example/v1", {"HTTPS_PROXY": "http://p:1"}, "http://p:1 (set by HTTPS_PROXY)"),
        (
            "https://h.example/v1",
            {"HTTPS_PROXY": "http://p:1", "https_proxy": "q:2"},
            "http://q:2 (set by https_proxy)",
        ),
        ("https://h.example/v1", {"HTTPS_PROXY": "http://p:1", "https_proxy": ""}, None),
        ("https://h.example/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://h.example/v1", {"HTTP_PROXY": "http://a:b@p:1/"}, "http://***@p:1 (set by HTTP_PROXY)"),
        ("http://h.example/v1", {"HTTP_PROXY": "http://token@p:1"}, "http://***@p:1 (set by HTTP_PROXY)"),
        ("http://h.example/v1", {"HTTPS_PROXY": "http://p:1", "ALL_PROXY": "q:2"}, "http://q:2 (set by ALL_PROXY)"),
        ("http://none/v1", {"HTTP_PROXY": "http://p:1"}, "http://p:1 (set by HTTP_PROXY)"),
        ("https://h.example/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.org, h.example"}, None),
        ("https://h.example/v1", {"HTTPS_PROXY": "http://p:1", "no_proxy": ".example"}, None),
        ("https://h.example/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://h.example/v1", {"HTTPS_PROXY": "https://p", "NO_PROXY": "ample"}, "https://p (set by HTTPS_PROXY)"),
        ("http://10.1.2.3:8000/v1", {"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, None),
        ("http://[fd00::1]:8000/v1", {"HTTP_PROXY": "http://p:1", "NO_PROXY": "fd00::/8"}, None),
        ("http://127.0.0.1:8000/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://[::1]:8000/v1", {"ALL_PROXY": "http://p:1"}, None),
        ("http://localhost:8000/v1", {"ALL_PROXY": "http://p:1"}, None),
    ],
)
def test_the_variables_say_which_proxy_is_used(
    monkeypatch: pytest.MonkeyPatch, base: str, variables: dict[str, str], proxy: str | None
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    chosen = proxy_for(base)
    assert (None if chosen is None else str(chosen)) == proxy


@pytest.mark.parametrize(
    "address", ["socks5://a:secret@p:1", "http://a:secret@", "http://a:secret@p:port", "http://a:sécret€@p"]
)
def test_what_is_no_http_proxy_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(SettingError, match=r"^\$HTTPS_PROXY is not the address of an HTTP proxy: write ") as raised:
        proxy_for("https://h.example/v1")
    assert "cret" not in str(raised.value)
