"""A verifier without weights, for workers on nodes that say they have GPUs: it tells what it was given."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

from steelyard.engine import score_worker
from steelyard.engine.run_progress import PartDone
from steelyard.engine.score_worker import ScorePartsOrder
from steelyard.runs.parted_run import RunPart
from steelyard.sampling.verifiers.scored_items import Item, Results, Scores
from tests.waiting import until

FOLDER = "told"  # in the folder of the run
EXPECTED = "expected"  # a file there: how many models must be loaded before any worker goes on
TOLD = """from steelyard.engine import score; from tests.ray import gpu_workers
score.score_part = gpu_workers.scored
"""


class Told:
    """Gives every response the same score, and writes down which device it was given while it worked."""

    def __init__(self, folder: Path) -> None:
        self.detected: dict[str, Any] = {}
        self.folder = folder
        _tell(folder, "loads")

    async def score(self, items: Iterator[Item]) -> Results:
        began = time.time()
        expected = int((self.folder / EXPECTED).read_text())
        until(lambda: len(told(self.folder.parent, "loads")) >= expected)  # a busy machine starts some of them late
        time.sleep(0.3)  # long enough for the others to be seen at work
        for item in items:
            yield item, Scores([0.5])
        _tell(self.folder, "works", began=began, ended=time.time())

    async def close(self) -> None:
        """Nothing to close."""


def scored(order: ScorePartsOrder, part: RunPart) -> PartDone:
    """What a worker does, with a model that tells."""

    async def connect(*_: object) -> Told:
        return Told(order.folder / FOLDER)

    with mock.patch.object(score_worker, "connect", connect):
        return score_worker.score_part(order, part)


def _tell(folder: Path, what: str, **more: float) -> None:
    folder.mkdir(exist_ok=True)
    about = {"what": what, "device": os.environ.get("CUDA_VISIBLE_DEVICES"), "process": os.getpid(), **more}
    with (folder / f"{os.getpid()}.jsonl").open("a") as file:
        file.write(json.dumps(about) + "\n")


def expect(run: Path, models: int) -> None:
    """Let no worker finish a part before so many models are loaded."""
    (run / FOLDER).mkdir(exist_ok=True)
    (run / FOLDER / EXPECTED).write_text(str(models))


def told(run: Path, what: str) -> list[dict[str, Any]]:
    """What all workers have told."""
    found = []
    for path in (run / FOLDER).glob("*.jsonl"):
        with suppress(OSError):
            found += [json.loads(line) for line in path.read_text().splitlines()]
    return [each for each in found if each["what"] == what]


def most_at_once(works: list[dict[str, Any]]) -> int:
    """How many were at work at a time, at most."""
    spans = [(float(each["began"]), float(each["ended"])) for each in works]
    return max(sum(began <= moment < ended for began, ended in spans) for moment, _ in spans)
