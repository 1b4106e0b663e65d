"""Where the server is, and the key to it: the address is the user's, the key comes from the environment alone."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from steelyard.foundation.environment import KEY_NAMES
from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import read_small, reason
from steelyard.sampling.llm.proxies import proxy_for

KEY_ENV = "OPENAI_API_KEY"
NO_KEY = "no key"  # in the place of a variable's name: the upstream is sent none
HIDDEN = "***"
LEAST_MASKED = 8  # characters of a key that is looked for in messages
LARGEST_KEY_FILE = 65536  # bytes
LEAST_REAL = 16  # characters of a key that no sample may hold
CHAT = "/chat/completions"
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/]))')
_KEYLIKE = re.compile(r"\b(?:sk|pk|rk|hf|gsk|xai)[-_][A-Za-z0-9_-]{8,}|(?<=Bearer )[^\s\"']{8,}")


@dataclass(frozen=True)
class Address:
    """The base of the API, such as http://127.0.0.1:8000/v1, and the key, which is never shown.

    Servers of one's own are often given a word for a key: "x", "none", "EMPTY". What has fewer than LEAST_MASKED
    characters is no secret, and is not looked for in messages: it would blank out parts of ordinary words. What has
    LEAST_REAL or more is a real key, which no text of a model has by chance: see `betrayed`.
    """

    base: str
    key: str | None = field(default=None, repr=False)

    def masked(self, text: str, most: int = 300) -> str:
        """The beginning of a text from outside on one printable line, without the key or anything that looks like one.

        >>> Address("http://localhost/v1", "secret-1").masked("wrong key: secret-1, sk-abcdefgh123")
        'wrong key: ***, ***'
        >>> Address("http://localhost/v1", "none").masked("nonetheless, none")
        'nonetheless, none'
        """
        key = self.key if self.key and len(self.key) >= LEAST_MASKED else ""
        near = text[: most + 6 * len(key)]  # an escaped character has six
        if key and key not in near and key in _unescaped(near):
            near = _unescaped(near)
        bare = near.replace(key, HIDDEN) if key else near
        if len(near) < len(text):
            bare = _without_beginning_of(key, bare)
        shown = "".join(char if char.isprintable() else " " for char in _KEYLIKE.sub(HIDDEN, bare))
        return " ".join(shown.split())[:most]

    def betrayed(self, text: str) -> bool:
        """Whether a text holds the real key: a server that echoes request headers would put it into files.

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
    """A text with the escapes of JSON read, where it is not JSON otherwise."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], text)


def _without_beginning_of(key: str, text: str) -> str:
    """A text that was cut, without the beginning of a key at its end."""
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
        (host or "").encode("idna")  # a name that can be looked up
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
    base = f"{parts.scheme}://{where}{path}"
    proxy_for(base)  # a proxy that cannot be used is an error before anything is made
    return Address(base, read_key(key_env))


def read_key(name: str) -> str | None:
    """The key in an environment variable, None if there is none; one that no header can hold is an error.

    Where VARIABLE is not set, VARIABLE_FILE may name a file that holds the key, such as a secret of a container. A
    name that is no variable's is not shown: it may be the key itself.
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
        raise SettingError(f"the key in ${name} holds blanks or characters that no header can carry: set it again")
    KEY_NAMES.add(name)
    return key or None


def _key_in_file(variable: str) -> str:
    """The key in the file that a variable names; empty where the variable is not set."""
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
