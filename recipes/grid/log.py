"""What each stage did, one JSON line a thing: the short log of the card is made from it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def timed(work: Path, stage: str, item: str) -> Iterator[dict[str, Any]]:
    """Time a piece of work; what the caller puts into the record is logged with it."""
    record: dict[str, Any] = {"stage": stage, "item": item}
    begin = time.monotonic()
    yield record
    record["seconds"] = round(time.monotonic() - begin, 1)
    line = json.dumps(record)
    print(line, flush=True)
    with (work / "log.jsonl").open("a") as file:
        file.write(line + "\n")
