"""An engine in this process, for what does not depend on processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from steelyard.engine.scheduler import Failed, Finished, P
from steelyard.engine.worker import attempt


class Here:
    """Does parts one after the other; `asked` are the names of those it was given, `most` how many it does at most."""

    def __init__(self, most: int | None = None) -> None:
        self.asked: list[str] = []
        self.most = most

    def run(
        self,
        task: Callable[[Any, Any], Any],
        order: Any,
        parts: Sequence[P],
        *,
        workers: int | None = None,
        least: int = 1,
        gpus: float | None = 0,
        reads: Mapping[str, str] | None = None,
    ) -> Generator[Finished[P] | Failed[P]]:
        for part in parts:
            if len(self.asked) == self.most:
                raise KeyboardInterrupt
            self.asked.append(part.name)
            well, said = attempt(task, order, part)
            yield Finished(part, said) if well else Failed(part, said)
