"""How long short commands take."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import steelyard as sy
from benchmarks.measuring import Row, children_cpu


def rows() -> list[Row]:
    command = [str(Path(sys.executable).parent / "steelyard"), "--help"]
    shown = statistics.median(children_cpu(command) for _ in range(7))
    imported = statistics.median(children_cpu([sys.executable, "-c", "import steelyard"]) for _ in range(7))
    everything = [sys.executable, "-c", "import steelyard as sy; [getattr(sy, name) for name in sy.__all__]"]
    used = statistics.median(children_cpu(everything) for _ in range(7))
    voting = [sys.executable, "-c", "import steelyard as sy; sy.vote"]
    libraries = [sys.executable, "-c", "import polars, numpy"]
    costs = [(children_cpu(voting), children_cpu(libraries)) for _ in range(7)]
    ours, theirs = (statistics.median(each) for each in zip(*costs, strict=True))
    completed = statistics.median(completion() for _ in range(7))
    with tempfile.TemporaryDirectory() as folder:
        voted = statistics.median(short_vote(Path(folder)) for _ in range(7))
    return [
        Row("steelyard --help", f"{shown:.2f} s of CPU", "under 0.3 s", shown < 0.3),
        Row("completion of an option in a shell", f"{completed:.2f} s of CPU", "under 0.3 s", completed < 0.3),
        Row("steelyard vote on 1,000 rows of Parquet", f"{voted:.2f} s", "at most 1.0 s", voted <= 1.0),
        Row("import steelyard", f"{imported:.2f} s of CPU", "under 0.1 s", imported < 0.1),
        Row("import sy.vote against polars and numpy", f"{ours / theirs:.2f} x ({ours:.2f} s of CPU)", "no goal", True),
        Row("import steelyard and touch every name", f"{used:.2f} s of CPU", "no goal", True),
    ]


def completion() -> float:
    """CPU of completing `steelyard vote --pl` in bash."""
    words = {"_STEELYARD_COMPLETE": "complete_bash", "COMP_WORDS": "steelyard vote --pl", "COMP_CWORD": "2"}
    old = dict(os.environ)
    os.environ.update(words)
    try:
        return children_cpu([str(Path(sys.executable).parent / "steelyard")])
    finally:
        os.environ.clear()
        os.environ.update(old)


def short_vote(folder: Path) -> float:
    """Seconds from the command to the verdicts; the first call writes the table."""
    table, verdicts = folder / "responses.parquet", folder / "verdicts.parquet"
    if not table.exists():
        sy.simulate(125, 8, seed=1).write_parquet(table)
    verdicts.unlink(missing_ok=True)
    begun = time.perf_counter()
    command = [str(Path(sys.executable).parent / "steelyard"), "vote", str(table), "-o", str(verdicts)]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun
