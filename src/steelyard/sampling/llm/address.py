"""The address of a server, its API key and the proxy in front of it.

The key comes from the environment alone. The proxy comes from the variables that curl and requests read: `HTTPS_PROXY`
is for https servers, `HTTP_PROXY` for http servers, `ALL_PROXY` for both, and `NO_PROXY` lists hosts, domains and
networks that are reached directly; lower-case names work too. As in Go, and unlike curl, this machine (localhost,
127.0.0.0/8, ::1) is never reached through a proxy.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment

from steelyard.foundation.environment import KEY_NAMES
from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import read_small, reason

KEY_ENV = "OPENAI_API_KEY"
NO_KEY = "no key"  # instead of a variable's name: no key is sent to the upstream
HIDDEN = "***"
LEAST_MASKED = 8  # characters of the shortest key that is masked in messages
LARGEST_KEY_FILE = 65536  # bytes
LEAST_REAL = 16  # characters of the shortest key that no sample may contain
CHAT = "/chat/completions"
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/]))')
_KEYLIKE = re.compile(r"\b(?:sk|pk|rk|hf|gsk|xai)[-_][A-Za-z0-9_-]{8,}|(?<=Bearer )[^\s\"']{8,}")
PORTS = {"http": 80, "https": 443}
NO_PROXY = "localhost,127.0.0.0/8,::1"


@dataclass(frozen=True)
class Address:
    """The base of the API, such as http://127.0.0.1:8000/v1, and the key, which is never shown.

    Private servers often have a word for a key: "x", "none", "EMPTY". A key of fewer than LEAST_MASKED characters is
    no secret and is not masked in messages, where it would hide parts of ordinary words. One of LEAST_REAL or more is a
    real key, which no model writes by chance: see `betrayed`.
    """

    base: str
    key: str | None = field(default=None, repr=False)

    def masked(self, text: str, limit: int = 300) -> str:
        """The beginning of an external text on one printable line, without the key or anything that looks like one.

        >>> Address("http://localhost/v1", "secret-1").masked("wrong key: secret-1, sk-abcdefgh123")
        'wrong key: ***, ***'
        >>> Address("http://localhost/v1", "none").masked("nonetheless, none")
        'nonetheless, none'
        """
        key = self.key if self.key and len(self.key) >= LEAST_MASKED else ""
        near = text[: limit + 6 * len(key)]  # an escaped character takes six
        if key and key not in near and key in _unescaped(near):
            near = _unescaped(near)
        bare = near.replace(key, HIDDEN) if key else near
        if len(near) < len(text):
            bare = _without_beginning_of(key, bare)
        shown = "".join(char if char.isprintable() else " " for char in _KEYLIKE.sub(HIDDEN, bare))
        return " ".join(shown.split())[:limit]

    def betrayed(self, text: str) -> bool:
        """Whether a text contains the real key: a server that echoes request headers would leak it into files.

        >>> Address("http://localhost/v1", "0123456789abcdef").betrayed("you sent 0123456789abcdef")
        True
        >>> Address("http://localhost/v1", "test").betrayed("a test")
        False
        """
        return self.has_secret and self.key is not None and self.key in text

    @property
    def has_secret(self) -> bool:
        """Whether the key is a real one."""
        return self.key is not None and len(self.key) >= LEAST_REAL


def _unescaped(text: str) -> str:
    """A text with the escapes of JSON decoded."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)


def _without_beginning_of(key: str, text: str) -> str:
    """A truncated text, without the beginning of a key at its end."""
    ends = (size for size in range(len(key) - 1, 3, -1) if text.endswith(key[:size]))
    return text[: len(text) - next(ends, 0)]


def read_address(text: str, key_env: str = KEY_ENV) -> Address:
    """Read `--upstream`: http://host:port, with or without /v1; the key from the environment variable named.

    >>> read_address("http://localhost:8000").base, read_address("https://api.example.com/v1/").base
    ('http://localhost:8000/v1', 'https://api.example.com/v1')
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")  # refuse a name that cannot be looked up
    except ValueError as error:
        raise SettingError(f"cannot read the upstream's address: {error}; write http://HOST:PORT/v1") from None
    if parts.scheme not in ("http", "https") or not host:
        raise SettingError("the upstream's address must begin with http:// or https://, as in http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise SettingError(f"the upstream's address must contain no user or password: put the key into ${KEY_ENV}")
    if parts.query or parts.fragment:
        raise SettingError("the upstream's address must not contain '?' or '#': put a key into the environment instead")
    shown = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix(CHAT).rstrip("/") or "/v1"
    location = shown if port is None else f"{shown}:{port}"
    base = f"{parts.scheme}://{location}{path}"
    proxy_for(base)  # refuse a bad proxy before anything is created
    return Address(base, read_key(key_env))


def read_key(name: str) -> str | None:
    """The key in an environment variable, None if there is none; a key that no header can contain is an error.

    If VARIABLE is not set, VARIABLE_FILE may name a file with the key, such as a secret of a container. An invalid name
    is not shown: it may be the key itself.
    """
    if name == NO_KEY:
        return None
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise SettingError(
            "--key-env is the name of an environment variable, such as OPENAI_API_KEY, not the key itself"
        )
    key = os.environ.get(name, "").strip() or _key_in_file(f"{name}_FILE")
    if not key and name != KEY_ENV:
        raise SettingError(
            "the environment variable named by --key-env is not set, or empty (--key-env is a name, not the key): set "
            "it to the key, set the variable of that name with _FILE added to the path of a file with the key, or omit "
            "--key-env if the server needs no key"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingError(f"the key in ${name} contains blanks or characters that no header may contain: set it again")
    KEY_NAMES.add(name)
    return key or None


def _key_in_file(variable: str) -> str:
    """The key in the file that a variable names; empty if the variable is not set."""
    path = os.environ.get(variable, "")
    if not path:
        return ""
    try:
        key = read_small(Path(path), LARGEST_KEY_FILE).decode().strip()
    except (OSError, ValueError) as error:
        problem = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else reason(error)
        raise SettingError(
            f"cannot read the key from the file named by ${variable}: {problem}; name a readable file that contains "
            "the key and nothing else"
        ) from None
    if not key:
        raise SettingError(f"the file named by ${variable} is empty: write the key into it")
    return key


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
    direct = f"{NO_PROXY},{proxies.get('no', '')}".split(",")
    if kind is None or any(_covers(entry.strip(), host, port) for entry in direct):
        return None
    address = proxies[kind]
    name = next(name for name, value in os.environ.items() if name.lower() == f"{kind}_proxy" and value == address)
    return _read_proxy(address.strip(), name)


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


def _read_proxy(address: str, name: str) -> Proxy:
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
