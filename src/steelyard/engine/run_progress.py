"""The progress of a run in parts: finished parts, and what workers report of the parts that they process.

A worker rewrites a small file in RUN/progress now and then, and removes it when its part ends; the part itself is the
source of truth.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from steelyard.foundation.files import make_folder, write_atomically
from steelyard.runs.token_usage import Usage
from steelyard.sampling.progress import Progress

FOLDER = "progress"
EVERY = 2.0  # seconds


@dataclass(frozen=True)
class PartDone:
    """The outcome of one part: how many items were requested, how many it holds, and what was done now."""

    requested: int
    held: int
    done: int
    failed: int
    tokens: int
    reasons: Counter[str] = field(default_factory=Counter)
    details: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    spent: dict[str, Usage] = field(default_factory=dict)  # by upstream


class RunProgress:
    """Adds up the progress of all parts; a thread reports it to the watcher."""

    def __init__(self, run: Path, requested: int, pieces: int, unit: str, watch: Callable[[Progress], None]) -> None:
        self.run, self.unit, self.watch = run, unit, watch
        self.stopped = False  # before its end, as too many parts failed
        self.finished: dict[str, PartDone] = {}
        self.total = Progress(requested, 0, pieces=pieces, unit=unit)
        self._lock = threading.Lock()

    def finish(self, part: str, done: PartDone) -> None:
        """Count a part that has succeeded."""
        with self._lock:
            self.finished[part] = done
        self.report()

    def report(self) -> None:
        with self._lock:
            parts = list(self.finished.values())
            running = [progress for name, progress in read_progress(self.run).items() if name not in self.finished]
        total = self.total
        total.pieces_done = len(parts)
        total.there = sum(part.held - part.done for part in parts)
        for name in ("done", "failed", "tokens"):
            setattr(total, name, sum(getattr(part, name) for part in (*parts, *running)))
        total.note_first()
        shares = [part.gpu for part in running if part.gpu is not None]
        total.gpu = sum(shares) / len(shares) if shares else None
        total.held = sum(part.held for part in parts)
        total.reasons = sum((part.reasons for part in parts), Counter[str]())
        names = sorted({name for part in parts for name in part.spent})
        total.spent = {name: sum((part.spent.get(name, Usage()) for part in parts), Usage()) for name in names}
        self.watch(total)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Report to the watcher now and then while the block waits for parts."""
        clear_progress(self.run)
        end = threading.Event()

        def report() -> None:
            while not end.wait(EVERY):
                self.report()

        thread = threading.Thread(target=report, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
            clear_progress(self.run)


@dataclass
class PartProgress:
    """What a worker has done of a part since it started it."""

    done: int = 0
    failed: int = 0
    tokens: int = 0
    gpu: float | None = None


class ProgressWriter:
    """Writes the progress on a part now and then; as a context manager, removes the file at the end."""

    def __init__(self, run: Path, part: str, *, gpus: bool = False) -> None:
        self.progress = PartProgress()
        self._path = run / FOLDER / f"{part}.json"
        self._gpus = gpus
        self._gpu_query: threading.Thread | None = None
        self._due = 0.0

    def write(self) -> None:
        """Write the file if it is due; a full disk is not reported here, as the journal reports it."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + EVERY
        if self._gpus and not (self._gpu_query and self._gpu_query.is_alive()):  # nvidia-smi may take a second
            self._gpu_query = threading.Thread(target=self._query_gpu, daemon=True)
            self._gpu_query.start()
        with suppress(Exception):
            write_atomically(self._path, json.dumps(asdict(self.progress)).encode())

    def _query_gpu(self) -> None:
        self.progress.gpu = gpu_share()

    def __enter__(self) -> ProgressWriter:
        make_folder(self._path.parent)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def read_progress(run: Path) -> dict[str, PartProgress]:
    """The progress of the running workers, by part."""
    progress: dict[str, PartProgress] = {}
    for path in sorted((run / FOLDER).glob("part-*.json")):
        with suppress(OSError, ValueError, TypeError):  # it was just removed
            progress[path.stem] = PartProgress(**json.loads(path.read_bytes()))
    return progress


def clear_progress(run: Path) -> None:
    """Remove the files of workers that were killed."""
    shutil.rmtree(run / FOLDER, ignore_errors=True)


def gpu_share() -> float | None:
    """The current utilisation of the GPUs of this process, by nvidia-smi; None if that is not available."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    arguments = [command, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    with suppress(OSError, ValueError, subprocess.SubprocessError, ZeroDivisionError):
        arguments += ["-i", visible] if visible else []
        output = subprocess.run(arguments, capture_output=True, text=True, timeout=2, check=True).stdout  # noqa: S603
        shares = [float(line) / 100 for line in output.split()]
        return sum(shares) / len(shares)
    return None
