"""An engine that does the parts one after the other in this process: what the workers do, without the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from steelyard.engine.at_work import attempt, refusal
from steelyard.engine.giving_out import Failed, Finished
from steelyard.errors import SettingError
from steelyard.version import __version__


class InProcess:
    def __init__(self) -> None:
        self.given: list[str] = []  # the parts of the last work, by name

    def run(
        self,
        task: Callable[[Any, Any], Any],
        order: Any,
        parts: Sequence[Any],
        *,
        workers: int | None = None,
        cpus: float = 1,
        gpus: float = 0,
        reads: Mapping[str, str] | None = None,
    ) -> Iterator[Finished[Any] | Failed[Any]]:
        self.given = [part.name for part in parts]
        if refused := refusal("this machine", __version__, reads or {}):
            raise SettingError(refused)
        for part in parts:
            well, said = attempt(task, order, part)
            yield Finished(part, said) if well else Failed(part, said)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """What every name of an engine stands for."""
    made = InProcess()
    for place in ("generate_parts", "score_parts"):
        monkeypatch.setattr(f"steelyard.engine.{place}.engine_of", lambda _: made)
    return made
