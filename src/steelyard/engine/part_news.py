"""Where the work on a part stands, from the worker to whoever watches: a small file in RUN/news that is written anew.

It is gone when the work on the part ends; what stands in the part itself is the truth.
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

FOLDER = "news"
EVERY = 2.0  # seconds


@dataclass
class News:
    """What a worker has done of a part since it took it up."""

    done: int = 0
    failed: int = 0
    tokens: int = 0
    gpu: float | None = None


class Teller:
    """Tells where a part stands, now and then; as a context manager it takes the news away at the end."""

    def __init__(self, run: Path, part: str, *, gpus: bool = False) -> None:
        self.news = News()
        self._path = run / FOLDER / f"{part}.json"
        self._gpus = gpus
        self._look: threading.Thread | None = None
        self._due = 0.0

    def tell(self) -> None:
        """Write the news if it is time; a full disk is no reason to stop for, as the journal will say so."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + EVERY
        if self._gpus and not (self._look and self._look.is_alive()):  # nvidia-smi may take a second
            self._look = threading.Thread(target=self._see, daemon=True)
            self._look.start()
        with suppress(Exception):
            write_atomically(self._path, json.dumps(asdict(self.news)).encode())

    def _see(self) -> None:
        self.news.gpu = gpu_share()

    def __enter__(self) -> Teller:
        make_folder(self._path.parent)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def all_news(run: Path) -> dict[str, News]:
    """What the workers say now, by part."""
    found: dict[str, News] = {}
    for path in sorted((run / FOLDER).glob("part-*.json")):
        with suppress(OSError, ValueError, TypeError):  # it was just taken away
            found[path.stem] = News(**json.loads(path.read_bytes()))
    return found


def forget_news(run: Path) -> None:
    """Remove what workers left behind that were killed."""
    shutil.rmtree(run / FOLDER, ignore_errors=True)


def gpu_share() -> float | None:
    """The share of the last moment that the GPUs of this process were busy, as nvidia-smi says; None if it does not."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    words = [command, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    mine = os.environ.get("CUDA_VISIBLE_DEVICES")
    with suppress(OSError, ValueError, subprocess.SubprocessError, ZeroDivisionError):
        words += ["-i", mine] if mine else []
        said = subprocess.run(words, capture_output=True, text=True, timeout=2, check=True).stdout  # noqa: S603
        shares = [float(line) / 100 for line in said.split()]
        return sum(shares) / len(shares)
    return None
