"""The files that stages hand on."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LEARN, READ = "learn.jsonl.xz", "read.jsonl.xz"
MODEL, SCORES = "verifier", "scores.npz"
NO_LABEL = -1


def save(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write objects, one per line."""
    with lzma.open(path, "wt", preset=3) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def load(path: Path) -> list[dict[str, Any]]:
    """Read what `save` wrote."""
    with lzma.open(path, "rt") as file:
        return [json.loads(line) for line in file]
