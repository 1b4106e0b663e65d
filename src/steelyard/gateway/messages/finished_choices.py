"""Whether a stream of chunks may end where it ends: every choice that was asked for has said why it stopped."""

from __future__ import annotations

from typing import Any


class FinishedChoices:
    """Knows which of the `wanted` choices of a stream have begun, and which have finished.

    What comes after a choice's finish_reason, a usage or an empty delta, does not open it again. An upstream that says
    itself that it is done may have left choices out, as one that does not know `n`.

    >>> known = FinishedChoices(2)
    >>> known.note({"index": 0, "finish_reason": "stop"})
    >>> known.note({"index": 0, "finish_reason": None})
    >>> known.may_end(done=False), known.may_end(done=True)
    (False, True)
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self._open: set[int] = set()
        self._finished: set[int] = set()

    def note(self, choice: dict[str, Any]) -> None:
        """Take in what a chunk says of one choice."""
        index = choice.get("index", 0)
        if choice.get("finish_reason") is not None:
            self._finished.add(index)
            self._open.discard(index)
        elif index not in self._finished:
            self._open.add(index)

    def may_end(self, *, done: bool) -> bool:
        """Whether nothing is missing at the end of the stream; `done`: the upstream has said that it is one."""
        complete = done or self._finished >= set(range(self.wanted))
        return bool(self._finished) and not self._open and complete
