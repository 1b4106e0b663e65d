"""The progress of a worker on its part, as a small file in RUN/progress that it rewrites now and then.

The file is removed when the part ends; the part itself is the source of truth.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from steelyard.foundation.files import make_folder, write_atomically

FOLDER = "progress"
EVERY = 2.0  # seconds


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
