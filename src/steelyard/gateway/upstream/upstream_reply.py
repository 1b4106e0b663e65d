"""What an upstream sends back, a reply or a stream of events, checked before any of it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.gateway.upstream.samples import choices_by_index, with_finish_reason
from steelyard.gateway.upstream.source import Source
from steelyard.sampling.llm.completion_json import ECHO, Reply, read_reply
from steelyard.sampling.llm.faults import TooLargeError, TryError

LONGEST = 2**22  # bytes of one event
LONGEST_STREAM = 2**28  # bytes of all events; 128,000 tokens with 20 alternatives each have as many


def checked_reply(content: Any, n: int, source: Source, *, logprobs: bool) -> Reply:
    """Read the reply to a request for n samples; a TryError, whose reason never contains the key, if none is good.

    `logprobs`: whether the client gets the log-probabilities, which may contain the key as well.
    """
    address, secrets = source.client.address, source.secrets
    try:
        reply = read_reply(content, n, secrets.in_text, wordless=True)
    except TryError as error:
        reason = address.masked(error.reason)
    else:
        if reply.good and not (secrets.keys and secrets.in_json(content if logprobs else _without_logprobs(content))):
            return reply
        reason = ECHO if reply.good else address.masked(next(iter(reply.wrong.values())))
    raise TryError(reason)


def good_choices(content: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    """The readable choices of a reply, unchanged; the others and those beyond n are left out."""
    raw = choices_by_index(content)
    return [with_finish_reason({**raw[j], "index": j}) for j in sorted(reply.good)]


def is_chunk(content: Any, n: int) -> bool:
    """Whether an event of a stream is a chunk that clients can read, of the `n` choices and no others.

    >>> is_chunk({"choices": [{"index": 0, "delta": {"content": "a"}}]}, 1), is_chunk({"choices": None}, 1)
    (True, False)
    """
    choices = content.get("choices") if isinstance(content, dict) else None
    return isinstance(choices, list) and all(_is_part(choice, n) for choice in choices)


def _is_part(choice: Any, n: int) -> bool:
    if not isinstance(choice, dict) or not isinstance(choice.get("delta"), dict):
        return False
    is_text = isinstance(choice["delta"].get("content"), str | None)
    index = choice.get("index", 0)
    return is_text and type(index) is int and 0 <= index < n and isinstance(choice.get("finish_reason"), str | None)


def _without_logprobs(content: dict[str, Any]) -> dict[str, Any]:
    """A reply without its log-probabilities, which are long."""
    choices = [
        {name: value for name, value in choice.items() if name != "logprobs"} if isinstance(choice, dict) else choice
        for choice in content["choices"]
    ]
    return {**content, "choices": choices}


class EventLines:
    """Splits a stream into events, however it is cut into pieces and whatever its line ends.

    Both the size of one event and the total are bounded: every `data:` line counts, also an empty one.
    """

    def __init__(self) -> None:
        self._line = bytearray()  # the part of the current line that has arrived
        self._data: list[bytes] = []
        self._size = 0  # bytes of the current event
        self._total = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of the events that end in this piece.

        >>> lines = EventLines()
        >>> list(lines.feed(b'data: {"a"')), list(lines.feed(b': 1}\\r')), list(lines.feed(b'\\n\\r\\n: ping\\n\\n'))
        ([], [], [b'{"a": 1}'])

        Raises:
            TooLargeError: an event is longer than LONGEST, or the stream longer than LONGEST_STREAM.
        """
        self._total += len(piece)
        if self._total > LONGEST_STREAM:
            raise TooLargeError(f"the stream is longer than {LONGEST_STREAM // 2**20} MB")
        if self._line.endswith(b"\r"):
            piece = b"\r" + piece
            del self._line[-1:]
        held = piece.endswith(b"\r")  # its newline may arrive with the next piece
        *lines, last = (piece[:-1] if held else piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if lines:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        for line in lines:
            if not line and self._data:
                data, self._data, self._size = self._data, [], 0
                yield b"\n".join(data)
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
                self._size += len(line)
                if self._size > LONGEST:
                    break
        self._line += last + (b"\r" if held else b"")
        if self._size + len(self._line) > LONGEST:
            raise TooLargeError(f"an event of the stream is longer than {LONGEST // 2**20} MB")

    def end(self) -> Iterator[bytes]:
        """Yield the event that the end of the stream ends."""
        yield from self.feed(b"\n\n")


class FinishedChoices:
    """Tracks which of the `n` choices of a stream have begun, and which have finished.

    Whatever follows a choice's finish_reason, such as a usage or an empty delta, does not open it again. An upstream
    that sends [DONE] may have left choices out, for example because it does not support `n`.

    >>> choices = FinishedChoices(2)
    >>> choices.add({"index": 0, "finish_reason": "stop"})
    >>> choices.add({"index": 0, "finish_reason": None})
    >>> choices.may_end(done=False), choices.may_end(done=True)
    (False, True)
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._open: set[int] = set()
        self._finished: set[int] = set()

    def add(self, choice: dict[str, Any]) -> None:
        """Record the state of one choice in a chunk."""
        index = choice.get("index", 0)
        if choice.get("finish_reason") is not None:
            self._finished.add(index)
            self._open.discard(index)
        elif index not in self._finished:
            self._open.add(index)

    def may_end(self, *, done: bool) -> bool:
        """Whether the stream is complete if it ends here; `done`: the upstream has sent [DONE]."""
        complete = done or self._finished >= set(range(self.n))
        return bool(self._finished) and not self._open and complete
