"""The progress of a job, and how many failures it tolerates."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from math import ceil

from steelyard.foundation.errors import SettingError
from steelyard.runs.token_usage import Usage


@dataclass
class Progress:
    """The progress of a job: `requested` samples in all, `there` before it began, the rest is its work.

    After its end, `held` are the samples in its run, and `reasons` say why others have failed. With several upstreams
    `parts` have the progress of each by name, and `lost` the errors of those that failed. If the work is cut into
    `pieces` for several workers, `pieces_done` of them are finished and `gpu` is the fraction of the time that their
    GPUs were busy, None if unknown. `unit` is what is counted. If workers load a model, `first` is when the first
    results arrived and how many, with their tokens: the time before says nothing about the pace. `spent` is the usage
    billed for requests, by the name of the upstream.
    """

    requested: int
    there: int
    done: int = 0
    failed: int = 0
    tokens: int = 0
    under_way: int = 0
    waiting: float = 0.0
    reason: str = ""
    held: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)
    parts: dict[str, Progress] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    pieces: int = 0
    pieces_done: int = 0
    gpu: float | None = None
    unit: str = "samples"
    first: tuple[float, int, int] | None = None
    spent: dict[str, Usage] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return max(time.monotonic() - self.began, 1e-9)

    @property
    def pace(self) -> tuple[float, float]:
        """Samples and tokens per second."""
        since, done, tokens = self.first if self._going_on and self.first else (self.began, 0, 0)
        seconds = max(time.monotonic() - since, 1e-9)
        return (self.done - done) / seconds, (self.tokens - tokens) / seconds

    @property
    def seconds_left(self) -> float | None:
        """The time left at the pace so far; None while that is unknown."""
        left = self.requested - self.there - self.done - self.failed
        return left / self.pace[0] if self.done and (self._going_on or not left) else None

    @property
    def _going_on(self) -> bool:
        """Whether more than the first results have arrived."""
        return self.first is None or self.done > self.first[1]

    def note_first(self) -> None:
        if self.first is None and self.done:
            self.first = time.monotonic(), self.done, self.tokens


@dataclass(frozen=True)
class Allowed:
    """How many failures a run tolerates: a number, or a percentage of its samples."""

    text: str
    count: int

    @classmethod
    def of(cls, limit: str | int, requested: int) -> Allowed:
        """Read `--max-failures`: 20, or 1% of the samples.

        >>> Allowed.of("20", 1000).count, Allowed.of("1%", 1000).count, Allowed.of(0, 1000).count
        (20, 10, 0)
        """
        text = str(limit)
        try:
            share = text.strip().endswith("%")
            value = float(text.strip().removesuffix("%"))
            if not 0 <= value < float("inf") or (share and value > 100) or (not share and value != int(value)):
                raise ValueError
        except ValueError:
            raise SettingError(
                f"cannot read --max-failures {text!r:.40}: give a number, or a percentage such as 1%"
            ) from None
        return cls(text, ceil(value * requested / 100) if share else int(value))
