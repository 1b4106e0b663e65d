"""Keeps the keys of upstreams and verifiers out of everything sent to clients: replies, streams and headers.

A server that echoes its request may put the key anywhere: in a header, a text, a field name, a token of the
log-probabilities or its bytes. A reply that contains a key is refused as a whole. In a stream a key may be split over
many events, so text that ends with the beginning of a key is held back until more of it has arrived. A stream that
ends with more than MAX_RELEASED characters of a key is refused, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from steelyard.sampling.llm.address import LEAST_REAL
from steelyard.sampling.llm.completion_json import ECHO
from steelyard.sampling.llm.faults import TooLargeError, TryError

PREFIX = 4  # characters of a key at the end of a text that make it wait
MAX_HEADERS = 32
_VALUE = re.compile(r"[\t\x20-\x7e]{0,256}")  # of a header: printable and not too long
_ESCAPE = re.compile(r"\\u00[2-7]|\\/")  # of a character that a key may have and JSON need not escape
_CODE = re.compile(r"\\u00([2-7][0-9a-fA-F])|\\(/)")
_CUT_ESCAPE = re.compile(r"\\(?:u(?:0(?:0[2-7]?)?)?)?$")  # at the end of a text: the rest may follow
ESCAPED = 6  # characters of the longest spelling of a character
CONSTANT = {"role", "type", "id", "finish_reason"}  # texts that later chunks repeat and never continue
MAX_RELEASED = 8  # characters of a key that a text may end with
MAX_TEXTS = 10_000  # of a stream that are tracked

TextId = tuple[int, int]  # the choice, and the hash of the path within it


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
        self._open: dict[TextId, int] = {}  # texts that end with the beginning of a key, and the length of that

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
            for path, piece in _texts(choice):
                self._add((index, path), piece)
            if choice.get("finish_reason") is not None:
                self._end([text_id for text_id in self._open if text_id[0] == index])

    def end(self) -> None:
        """Check the end of the stream, which may come before a choice has finished."""
        self._end(list(self._open))

    def _end(self, ended: list[TextId]) -> None:
        """Stop holding back texts that have ended, unless one ends with too much of a key."""
        if any(self._open.pop(text_id) > MAX_RELEASED for text_id in ended):
            raise TryError(ECHO)

    def _add(self, text_id: TextId, piece: str) -> None:
        if text_id not in self._tails and len(self._tails) >= MAX_TEXTS:
            raise TooLargeError(f"the stream has more than {MAX_TEXTS:,} texts")
        text = self._tails.get(text_id, "") + piece
        if self._secrets.in_text(text):
            raise TryError(ECHO)
        self._tails[text_id] = text[-ESCAPED * self._longest :]
        self._open.pop(text_id, None)
        plain = _unescaped(text) if "\\" in text else text
        if length := max(_start_at_end(plain, key) for key in self._secrets.keys):
            self._open[text_id] = length


def _escapes(character: str) -> str:
    r"""A pattern for a character as JSON may spell it.

    >>> _escapes("/")
    '(?:/|\\\\u002[fF]|\\\\/)'
    """
    plain, code = re.escape(character), f"{ord(character):04x}"
    digits = re.sub("[a-f]", lambda digit: f"[{digit[0]}{digit[0].upper()}]", code)
    backslash = rf"|\\{plain}" if character in '"\\/' else ""
    return rf"(?:{plain}|\\u{digits}{backslash})"


def _unescaped(text: str) -> str:
    r"""A text with the escapes that a key may be spelled with undone; one that is cut off at the end is removed.

    >>> _unescaped(r"\u0073k\u002d1\/\u00")
    'sk-1/'
    """
    return _CODE.sub(lambda match: match[2] or chr(int(match[1], 16)), _CUT_ESCAPE.sub("", text))


def _start_at_end(text: str, key: str) -> int:
    """The number of characters of a key's beginning that a text ends with; 0 if they are fewer than PREFIX.

    >>> _start_at_end("my key: abcde", "abcdefgh"), _start_at_end("abcde.", "abcdefgh")
    (5, 0)
    """
    at = text.find(key[:PREFIX], max(0, len(text) - len(key)))
    while at >= 0:
        if key.startswith(text[at:]):
            return len(text) - at
        at = text.find(key[:PREFIX], at + 1)
    return 0


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


def _texts(choice: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Every text of one choice of a chunk, with the hash of its path: a later chunk may continue it."""
    if choice.get("logprobs"):
        yield hash("logprobs"), _joined(choice["logprobs"])
    values: list[tuple[int, Any]] = [(0, {name: choice[name] for name in choice if name != "logprobs"})]
    while values:
        path, value = values.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            members = ((name, member) for name, member in reversed(value.items()) if name not in CONSTANT)
            values += [(hash((path, name)), member) for name, member in members]
        elif isinstance(value, list):
            items = [(hash((path, _position(item, position))), item) for position, item in enumerate(value)]
            values += reversed(items)


def _position(item: Any, position: int) -> int:
    """The position of a list's item over all chunks: tool calls, for example, name theirs."""
    index = item.get("index") if isinstance(item, dict) else None
    return index if isinstance(index, int) else position
