"""The operator's limits; no request beyond them reaches an upstream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from steelyard.foundation.errors import SettingError, did_you_mean, need_numbers
from steelyard.runs.feedback_folder import MAX_BYTES as FEEDBACK

INTEGERS = ("body", "messages", "samples", "choices", "tokens", "in_flight", "queue", "feedback")
MAY_BE_ZERO = ("queue", "drain")


@dataclass(frozen=True)
class Caps:
    """The limits. `tokens` and `cost` are the worst case of one request, all its samples together.

    If `tokens` or `cost` is set, a request without max_tokens gets its share as max_tokens.
    """

    body: int = 8 * 2**20  # bytes
    messages: int = 2048
    samples: int = 64
    choices: int = 16  # returned to a client
    tokens: int | None = None
    cost: float | None = None  # in the currency of the prices
    deadline: float = 600.0  # seconds
    in_flight: int = 1024  # requests
    queue: int = 256  # requests that wait for a slot
    head: float = 30.0  # seconds to send the head of a request
    upload: float = 60.0  # seconds to send the body
    drain: float = 30.0  # seconds for requests to end when the server is stopped
    feedback: int = FEEDBACK  # bytes of stored requests; labelled ones are never dropped

    def __post_init__(self) -> None:
        """Refuse invalid limits."""
        need_numbers(**vars(self))
        for name, value in vars(self).items():
            if value is None:
                continue
            if name in INTEGERS and type(value) is not int:
                raise SettingError(f"the limit {name} is {value}: give an integer")
            if not (value > 0 or (value == 0 and name in MAY_BE_ZERO)):
                raise SettingError(f"the limit {name} is {value}: give a number above 0")


def read_caps(pairs: Sequence[str]) -> Caps:
    """Read limits as NAME=NUMBER.

    >>> read_caps(["samples=32", "deadline=60.5"]).deadline
    60.5
    """
    names = [field.name for field in fields(Caps)]
    values: dict[str, float] = {}
    for pair in pairs:
        name, _, text = (part.strip() for part in pair.partition("="))
        name = name.replace("-", "_")
        if name not in names:
            raise SettingError(f"unknown limit {name!r:.60}: {did_you_mean(name, names)}")
        try:
            values[name] = int(text) if name in INTEGERS else float(text)
        except ValueError:
            raise SettingError(f"cannot read the limit {pair!r:.60}: write it as {name}=NUMBER") from None
    return Caps(**values)  # type: ignore[arg-type]
