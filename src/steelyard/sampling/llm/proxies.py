"""Chooses the proxy for a server by the variables that curl and requests read.

`HTTPS_PROXY` is for https servers, `HTTP_PROXY` for http servers, `ALL_PROXY` for both, and `NO_PROXY` lists hosts,
domains and networks that are reached directly; lower-case names work too. As in Go, and unlike curl, this machine
(localhost, 127.0.0.0/8, ::1) is never reached through a proxy.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment

from steelyard.foundation.errors import SettingError

PORTS = {"http": 80, "https": 443}
LOCAL = "localhost,127.0.0.0/8,::1"


@dataclass(frozen=True)
class Proxy:
    """A proxy and the variable that names it. Its text shows neither user nor password."""

    url: str = field(repr=False)
    host: str
    port: int
    variable: str

    def __str__(self) -> str:
        scheme, _, authority = self.url.partition("://")
        login, at, host = authority.rpartition("@")
        return f"{scheme}://{'***' * bool(login)}{at}{host} (set by {self.variable})"


def any_proxy() -> bool:
    """Whether a variable names a proxy, used or not."""
    return bool({*PORTS, "all"} & getproxies_environment().keys())


def proxy_for(base: str) -> Proxy | None:
    """The proxy for a server; None if it is reached directly."""
    server, proxies = urlsplit(base), getproxies_environment()
    kind = next((kind for kind in (server.scheme, "all") if kind in proxies), None)
    host, port = server.hostname or "", server.port or PORTS.get(server.scheme)
    direct = f"{LOCAL},{proxies.get('no', '')}".split(",")
    if kind is None or any(_covers(entry.strip(), host, port) for entry in direct):
        return None
    address = proxies[kind]
    name = next(name for name, value in os.environ.items() if name.lower() == f"{kind}_proxy" and value == address)
    return _read(address.strip(), name)


def _covers(entry: str, host: str, port: int | None) -> bool:
    """Whether an entry of NO_PROXY matches a host.

    >>> [_covers(entry, "api.example.org", 443) for entry in ("example.org", ".example.org", "ample.org", "*")]
    [True, True, False, True]
    >>> [_covers(entry, "10.1.2.3", 8000) for entry in ("10.1.2.3", "10.0.0.0/8", "10.1.2.3:8000", "10.1.2.3:80", "")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # one of them is a name
    name = entry.lower().removesuffix(f":{port}").lstrip("*.")
    return entry == "*" or (bool(name) and (host == name.strip("[]") or host.endswith(f".{name}")))


def _read(address: str, name: str) -> Proxy:
    """Read a proxy's address. Errors never quote it, because it may contain a password."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        default_port = PORTS[parts.scheme]
        host, port = parts.hostname, parts.port or default_port
        unquote(f"{parts.username}{parts.password}").encode("latin-1")
    except (KeyError, ValueError):
        host = None
    if not host:
        raise SettingError(
            f"${name} is not the address of an HTTP proxy: write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT "
            "(SOCKS proxies are not supported), or unset it"
        )
    return Proxy(f"{parts.scheme}://{parts.netloc}", host, port, name)
