"""Where the server is, and the key to it: the address is the user's, the key comes from the environment alone."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from steelyard.errors import SettingError

KEY_ENV = "OPENAI_API_KEY"
HIDDEN = "***"
CHAT = "/chat/completions"
_KEYLIKE = re.compile(r"\b(?:sk|pk|rk|hf|gsk|xai)[-_][A-Za-z0-9_-]{8,}|(?<=Bearer )[^\s\"']{8,}")


@dataclass(frozen=True)
class Address:
    """The base of the API, such as http://127.0.0.1:8000/v1, and the key, which is never shown."""

    base: str
    key: str | None = field(default=None, repr=False)

    def masked(self, text: str) -> str:
        """A text from outside on one printable line, without the key or anything that looks like one.

        >>> Address("http://localhost/v1", "secret-1").masked("wrong key: secret-1, sk-abcdefgh123")
        'wrong key: ***, ***'
        """
        bare = text.replace(self.key, HIDDEN) if self.key else text
        shown = "".join(char if char.isprintable() else " " for char in _KEYLIKE.sub(HIDDEN, bare))
        return " ".join(shown.split())


def read_address(text: str, key_env: str = KEY_ENV) -> Address:
    """Read `--upstream`: http://host:port, with or without /v1; the key from the environment variable named.

    >>> read_address("http://localhost:8000").base, read_address("https://api.example.com/v1/").base
    ('http://localhost:8000/v1', 'https://api.example.com/v1')
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SettingError(f"cannot read the upstream's address: {error}; write http://HOST:PORT/v1") from None
    if parts.scheme not in ("http", "https") or not host:
        raise SettingError("the upstream's address must begin with http:// or https://, as in http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise SettingError(f"the upstream's address must hold no user or password: put the key into ${KEY_ENV}")
    if parts.query or parts.fragment:
        raise SettingError("the upstream's address must end before '?' and '#': put a key into the environment instead")
    shown = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix(CHAT).rstrip("/") or "/v1"
    where = shown if port is None else f"{shown}:{port}"
    return Address(f"{parts.scheme}://{where}{path}", read_key(key_env))


def read_key(name: str) -> str | None:
    """The key in an environment variable, None if there is none; one that no header can hold is an error."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise SettingError(
            "--key-env is the name of an environment variable, such as OPENAI_API_KEY, not the key itself"
        )
    key = os.environ.get(name, "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingError(f"the key in ${name} holds blanks or characters that no header can carry: set it again")
    if not key and name != KEY_ENV:
        raise SettingError(f"there is no key in ${name}: set it, or leave --key-env away for a server that wants none")
    return key or None
