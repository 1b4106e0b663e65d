"""What one request asks for, and how much patience there is for it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Limits:
    """How much patience a run has: tries after the first, seconds for a try, and for a sample with all its tries."""

    retries: int = 2
    try_timeout: float = 600.0
    sample_timeout: float = 3600.0


@dataclass(frozen=True)
class Batch:
    """Samples first .. first + count - 1 of a question, and what they went through."""

    question: str
    prompt: str
    first: int
    count: int
    since: float
    tries: int = 0
    put_off: int = 0

    @property
    def samples(self) -> range:
        return range(self.first, self.first + self.count)

    def part(self, first: int, count: int) -> Batch:
        return replace(self, first=first, count=count)
