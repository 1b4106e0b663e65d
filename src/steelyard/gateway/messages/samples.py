"""One sample of a request: the choice as the upstream sent it, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from steelyard.sampling.llm.faults import TryError
from steelyard.sampling.llm.reply import Choice


class Sample(NamedTuple):
    """Sample number `number`; `source` is empty for the only upstream, `reply` is all but the choices of its reply."""

    number: int
    source: str = ""
    choice: Choice | None = None
    raw: dict[str, Any] | None = None  # the choice as it came
    reply: dict[str, Any] | None = None
    error: TryError | None = None
    score: float | None = None
    response: str | None = None  # the id of the reply, where it holds this sample alone
    unscored: str | None = None  # why there is no score although there should be one
    scoring: Mapping[str, Any] | None = None  # the tokens that its score took, where the verifier's server says so
    choices: int = 1  # that its reply was asked for: the usage is that of all of them

    @property
    def message(self) -> dict[str, Any] | None:
        message = self.raw.get("message") if self.raw else None
        return message if isinstance(message, dict) else None


def choices_by_index(content: Any) -> dict[int, dict[str, Any]]:
    """The choices of a reply that `read_reply` has read, by their index; the first of several with one index."""
    found: dict[int, dict[str, Any]] = {}
    for position, choice in enumerate(content["choices"]):
        if isinstance(choice, dict):
            index = choice.get("index", position)
            if isinstance(index, int):
                found.setdefault(index, choice)
    return found


def ended(choice: dict[str, Any]) -> dict[str, Any]:
    """A choice that says why it ended, as clients wait for; where its upstream did not, it has stopped."""
    return choice if isinstance(choice.get("finish_reason"), str) else {**choice, "finish_reason": "stop"}
