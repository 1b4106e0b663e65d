"""Keeps the keys of upstreams and verifiers out of everything sent to clients: replies, streams and headers.

A server that echoes its request may put the key anywhere: in a header, a text, a field name, a token of the
log-probabilities or its bytes. A reply that contains a key is refused as a whole. In a stream a key may be split over
many events, so text that ends with the beginning of a key is held back until more of it has arrived.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from steelyard.llm.address import LEAST_REAL
from steelyard.llm.faults import TryError
from steelyard.llm.reply import ECHO

PREFIX = 4  # characters of a key at the end of a text that make it wait
MAX_HEADERS = 32
_VALUE = re.compile(r"[\t\x20-\x7e]{0,256}")  # of a header: printable and not too long
_ESCAPE = re.compile(r"\\u00[2-7]|\\/")  # of a character that a key may have and JSON need not escape
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_MAX_CALLS = 128  # tool calls of a choice that are tracked separately

TextId = tuple[int, str, int]  # choice, field, tool call


class Secrets:
    """The keys that no client may see; a short word such as "none", which private servers accept, is not a key."""

    def __init__(self, *keys: str | None) -> None:
        self.keys: list[str] = []
        self._spellings: list[str] = []  # of the keys, as they are and within JSON
        self._escaped: list[re.Pattern[str]] = []  # the keys with any of their characters escaped
        self._byte_patterns: list[re.Pattern[str]] = []
        for key in keys:
            self.add(key)

    def add(self, key: str | None) -> None:
        """Add a key to look for."""
        if key is None or len(key) < LEAST_REAL or key in self.keys:
            return
        numbers = r"\s*,\s*".join(str(number) for number in key.encode())
        escaped = json.dumps(key)[1:-1]
        self.keys.append(key)
        self._spellings += {key, escaped}
        self._escaped.append(re.compile("".join(map(_escapes, key))))
        self._byte_patterns.append(re.compile(rf"{numbers}(?!\d)"))

    def in_text(self, text: str) -> bool:
        """Whether a text contains a key: verbatim, escaped as in JSON, or as the bytes of a token.

        >>> secrets = Secrets("0123456789abcdef")
        >>> secrets.in_text("you sent 0123456789abcdef"), secrets.in_text("01\\\\u00323456789\\\\u0061bcdef")
        (True, True)
        """
        if any(spelling in text for spelling in self._spellings):
            return True
        is_escaped = "\\" in text and _ESCAPE.search(text) is not None
        if is_escaped and any(pattern.search(text) for pattern in self._escaped):
            return True
        return (is_escaped or '"bytes"' in text) and any(pattern.search(text) for pattern in self._byte_patterns)

    def in_json(self, content: Any) -> bool:
        """Whether a reply contains a key, also in a field name or spread over several tokens."""
        if not self.keys:
            return False
        return self.in_text(json.dumps(content, ensure_ascii=False)) or any(map(self.in_text, _tokens(content)))

    def safe_headers(self, headers: Mapping[str, str], prefix: str) -> dict[str, str]:
        """The headers with this prefix that may be passed on: without control characters and without a key."""
        chosen = {
            name: value
            for name, value in headers.items()
            if name.lower().startswith(prefix) and _VALUE.fullmatch(value) and not self.in_text(f"{name} {value}")
        }
        return dict(list(chosen.items())[:MAX_HEADERS])


class StreamedSecrets:
    """Looks for keys in the texts of a stream, which arrive in pieces."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._longest = max(map(len, secrets.keys), default=1)
        self._tails: dict[TextId, str] = {}  # the end of each text
        self._open: set[TextId] = set()  # texts that end with the beginning of a key

    @property
    def must_wait(self) -> bool:
        """Whether the events received so far must not be sent on yet."""
        return bool(self._open)

    def check(self, chunk: dict[str, Any]) -> None:
        """Check a chunk; raise TryError if it contains a key, or the end of one."""
        if not self._secrets.keys:
            return
        if self._secrets.in_text(json.dumps(chunk, ensure_ascii=False)):
            raise TryError(ECHO)
        for choice in chunk["choices"]:
            index = choice.get("index", 0)
            for text_id, piece in _pieces(choice, index):
                self._add(text_id, piece)
            if choice.get("finish_reason") is not None:
                self._open = {text_id for text_id in self._open if text_id[0] != index}

    def _add(self, text_id: TextId, piece: str) -> None:
        text = self._tails.get(text_id, "") + piece
        if self._secrets.in_text(text):
            raise TryError(ECHO)
        self._tails[text_id] = text[-self._longest :]
        if any(_ends_with_start_of(text, key) for key in self._secrets.keys):
            self._open.add(text_id)
        else:
            self._open.discard(text_id)


def _escapes(character: str) -> str:
    r"""A pattern for a character as JSON may spell it.

    >>> _escapes("/")
    '(?:/|\\\\u002[fF]|\\\\/)'
    """
    plain, code = re.escape(character), f"{ord(character):04x}"
    digits = re.sub("[a-f]", lambda digit: f"[{digit[0]}{digit[0].upper()}]", code)
    backslash = rf"|\\{plain}" if character in '"\\/' else ""
    return rf"(?:{plain}|\\u{digits}{backslash})"


def _ends_with_start_of(text: str, key: str) -> bool:
    """Whether a text ends with the beginning of a key.

    >>> _ends_with_start_of("my key: abcde", "abcdefgh"), _ends_with_start_of("abcde.", "abcdefgh")
    (True, False)
    """
    at = text.find(key[:PREFIX], max(0, len(text) - len(key)))
    while at >= 0:
        if key.startswith(text[at:]):
            return True
        at = text.find(key[:PREFIX], at + 1)
    return False


def _tokens(content: Any) -> Iterator[str]:
    """The tokens of each choice, joined: a key may be spread over them."""
    choices = content.get("choices") if isinstance(content, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("logprobs"):
            yield _joined(choice["logprobs"])


def _joined(logprobs: Any) -> str:
    entries = logprobs.get("content") if isinstance(logprobs, dict) else None
    tokens = (entry.get("token") for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()
    return "".join(token for token in tokens if isinstance(token, str))


def _pieces(choice: dict[str, Any], index: int) -> Iterator[tuple[TextId, str]]:
    """The texts of one choice of a chunk, which may continue in later chunks."""
    delta = choice["delta"]
    for name in _TEXTS:
        if isinstance(delta.get(name), str):
            yield (index, name, 0), delta[name]
    if choice.get("logprobs"):
        yield (index, "logprobs", 0), _joined(choice["logprobs"])
    calls = delta.get("tool_calls")
    for position, call in enumerate(
        [*(calls if isinstance(calls, list) else ()), {"function": delta.get("function_call")}]
    ):
        function = call.get("function") if isinstance(call, dict) else None
        number = call.get("index", position) if isinstance(call, dict) else 0
        slot = number if isinstance(number, int) and 0 <= number < _MAX_CALLS else _MAX_CALLS
        for name in ("name", "arguments"):
            if isinstance(function, dict) and isinstance(function.get(name), str):
                yield (index, name, slot), function[name]
