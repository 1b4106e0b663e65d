"""What one request asks for, and how much patience there is for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steelyard.foundation.errors import SettingError, need_numbers

LEAST = 0.01  # seconds that make sense as a limit


@dataclass(frozen=True)
class Limits:
    """How much patience a run has: tries after the first, seconds for a try, and for a sample with all its tries."""

    retries: int = 2
    try_timeout: float = 600.0
    sample_timeout: float = 3600.0

    def __post_init__(self) -> None:
        """Refuse what is no limit, before any server is asked."""
        need_numbers(retries=self.retries, try_timeout=self.try_timeout, sample_timeout=self.sample_timeout)
        if self.retries < 0:
            raise SettingError(f"cannot try again {self.retries} times: --retries is at least 0")
        for name, seconds in (("try", self.try_timeout), ("sample", self.sample_timeout)):
            if not seconds >= LEAST:  # nor is NaN
                raise SettingError(f"cannot wait {seconds} s for a {name}: --{name}-timeout is at least {LEAST}")


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
