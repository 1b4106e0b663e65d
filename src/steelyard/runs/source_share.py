"""The share of one source in a run: its samples 0, 1, 2, .. of every question, as if it were the only source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.runs.parameters import number_of
from steelyard.runs.run import Run
from steelyard.runs.run_state import Key


class Share:
    """The samples of one source, or all if the run has none (`source` is empty); `first` limits the questions."""

    def __init__(self, run: Run, source: str = "", first: int | None = None) -> None:
        self.run, self.source, self.first = run, source, first
        self._index = list(run.manifest.sources).index(source) if source else None

    @property
    def requested(self) -> int:
        """The number of samples of this source in the finished run."""
        return self.run.questions.height * self.run.manifest.n

    @property
    def done(self) -> int:
        """The number of samples that exist."""
        done = self.run.state.samples.done
        return len(done) if self._index is None else done.among(self._numbers)

    @property
    def failed(self) -> dict[Key, str]:
        """The failed samples, with the reason."""
        numbers, failed = set(self._numbers), self.run.state.samples.failed
        return {key: reason for key, reason in failed.items() if self._index is None or key[1] in numbers}

    def missing(self) -> Iterator[Key]:
        """Yield the samples that are still to be requested, including failed ones."""
        numbers = self._numbers
        for question in self.run.questions["question"].head(self.first or self.run.questions.height):
            for sample, number in enumerate(numbers):
                if not self.run.has(question, number):
                    yield question, sample

    async def add(self, record: dict[str, Any]) -> None:
        """Add a record about a sample of this source; returns when it is on disk."""
        if self._index is None:
            await self.run.add(record)
        else:
            await self.run.add({**record, "sample": number_of(record["sample"], self._index), "source": self.source})

    @property
    def _numbers(self) -> list[int]:
        """The journal numbers of its samples, by sample."""
        samples = range(self.run.manifest.n)
        return list(samples) if self._index is None else [number_of(i, self._index) for i in samples]
