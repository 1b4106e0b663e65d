"""The part of a run that one source fills: its samples 0, 1, 2, .. of every question, as if it were alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.runs.run import Run
from steelyard.runs.sample_numbers import number_of
from steelyard.runs.state import Key


class Share:
    """The samples of one source; of a run without sources (`source` is empty) all there are.

    With `first` only so many questions are asked for.
    """

    def __init__(self, run: Run, source: str = "", first: int | None = None) -> None:
        self.run, self.source, self.first = run, source, first
        self._place = list(run.manifest.sources).index(source) if source else None

    @property
    def wanted(self) -> int:
        """How many samples of it the finished run has."""
        return self.run.questions.height * self.run.manifest.n

    @property
    def done(self) -> int:
        """How many of its samples are there."""
        done = self.run.state.samples.done
        return len(done) if self._place is None else done.among(self._numbers)

    @property
    def failed(self) -> dict[Key, str]:
        """Those of its samples that failed, with the reason."""
        mine, failed = set(self._numbers), self.run.state.samples.failed
        return {key: reason for key, reason in failed.items() if self._place is None or key[1] in mine}

    def missing(self) -> Iterator[Key]:
        """Its samples that are still to be asked for, failed ones too: made as they are taken."""
        numbers = self._numbers
        for question in self.run.questions["question"].head(self.first or self.run.questions.height):
            for sample, number in enumerate(numbers):
                if not self.run.has(question, number):
                    yield question, sample

    async def add(self, record: dict[str, Any]) -> None:
        """Return when a record about one of its samples is on the disk."""
        if self._place is None:
            await self.run.add(record)
        else:
            await self.run.add({**record, "sample": number_of(record["sample"], self._place), "source": self.source})

    @property
    def _numbers(self) -> list[int]:
        """The numbers of its samples in the journal, by sample."""
        samples = range(self.run.manifest.n)
        return list(samples) if self._place is None else [number_of(i, self._place) for i in samples]
