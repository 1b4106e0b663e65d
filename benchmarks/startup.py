"""How long it takes to say hello."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from benchmarks.measuring import Row, children_cpu


def rows() -> list[Row]:
    command = [str(Path(sys.executable).parent / "steelyard"), "--help"]
    shown = statistics.median(children_cpu(command) for _ in range(7))
    imported = statistics.median(children_cpu([sys.executable, "-c", "import steelyard"]) for _ in range(7))
    everything = [sys.executable, "-c", "import steelyard as sy; [getattr(sy, name) for name in sy.__all__]"]
    used = statistics.median(children_cpu(everything) for _ in range(7))
    return [
        Row("steelyard --help", f"{shown:.2f} s of CPU", "under 0.3 s", shown < 0.3),
        Row("import steelyard", f"{imported:.2f} s of CPU", "under 0.5 s", imported < 0.5),
        Row("import steelyard and touch every name", f"{used:.2f} s of CPU", "no goal", True),
    ]
