"""Access control: every route but /healthz needs a key, and pages of other sites are refused.

Keys are stored as hashes and compared in constant time. Stored requests name their key by a short digest, its owner
id, which stays the same when the key file is reordered. A browser that was directed here by another site's name
(DNS rebinding) sends that name as Host; a page of another site sends its Origin.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from urllib.parse import urlsplit

from aiohttp import web

from steelyard.gateway.messages.api_errors import ApiError

OPEN = frozenset({"/healthz"})
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
NO_OWNER = ""  # the owner id of a client without a key


class Access:
    """Checks keys and hosts; without keys only hosts. `allowed` are host names that a proxy passes on."""

    def __init__(self, keys: tuple[str, ...], host: str, allowed: tuple[str, ...] = ()) -> None:
        self._digests = tuple(_digest(key) for key in keys)
        self._owners = tuple(owner_id(key) for key in keys)
        everywhere = host in EVERYWHERE
        own = LOOPBACK if everywhere or is_loopback(host) else frozenset[str]()
        names = {name.lower() for name in allowed}
        self._hosts = None if everywhere and not names else {host.lower(), *own, *names}

    def check(self, request: web.BaseRequest) -> int | None:
        """Refuse a request without access; return the number of its key, None if it needs none."""
        host = (_host_of(request.headers.get("Host", "")) or "").lower()
        if self._hosts is not None and host not in self._hosts:
            raise ApiError(403, "unknown host name: allow it with --allow-host", code="wrong_host")
        origin = request.headers.get("Origin")
        if origin is not None and _netloc(origin) != request.headers.get("Host", "").lower():
            raise ApiError(403, "requests from other sites are refused", code="wrong_origin")
        if not self._digests or request.rel_url.raw_path in OPEN:
            return None
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        digest = _digest(token.strip())
        matches = [hmac.compare_digest(digest, expected) for expected in self._digests]
        if kind.lower() != "bearer" or not any(matches):
            message = "the API key is not valid" if token else "a key is required: send 'Authorization: Bearer KEY'"
            raise ApiError(401, message, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
        return matches.index(True)

    def owner(self, number: int | None) -> str:
        return NO_OWNER if number is None else self._owners[number]


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def owner_id(key: str) -> str:
    """What stored requests call the owner of a key: a digest that says nothing about a random key.

    >>> owner_id("0123456789abcdef"), owner_id("0123456789abcdeg")
    ('55269f349137', 'b1395a9664ba')
    """
    return _digest(f"steelyard owner {key}").hex()[:12]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _host_of(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None
