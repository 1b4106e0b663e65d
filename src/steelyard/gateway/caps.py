"""What the operator allows: nothing beyond it reaches an upstream."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import SettingError, need_numbers


@dataclass(frozen=True)
class Caps:
    """The most of everything. `tokens` is the worst case of one request, all its samples together."""

    body: int = 8 * 2**20  # bytes
    messages: int = 2048
    samples: int = 64
    choices: int = 16  # that a client gets back
    tokens: int = 1_000_000
    cost: float | None = None  # in the currency of the prices
    deadline: float = 600.0  # seconds
    in_flight: int = 1024  # requests
    queue: int = 256  # requests that wait for a place
    drain: float = 30.0  # seconds that requests have to end when the server is stopped

    def __post_init__(self) -> None:
        need_numbers(**vars(self))
        for name, value in vars(self).items():
            if value is not None and not value >= (0 if name in ("queue", "drain") else 1e-3):
                raise SettingError(f"the limit {name} is {value}: give a number above 0")
