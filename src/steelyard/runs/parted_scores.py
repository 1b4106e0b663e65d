"""What the scores of a run in parts are made with: one folder per column in RUN/scores, made once.

Every part knows it for itself; this keeps another model or split out of the parts that have no scores yet.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import make_folder, reason, write_atomically

FOLDER, FILE = "scores", "settings.json"


def settled(run: Path, column: str) -> dict[str, Any] | None:
    """What the scores of a column were begun with; None if it has none."""
    path = _place(run, column) / FILE
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        fix = "restore it, or name another column with --as"
        raise RunError(f"{path} cannot be read ({reason(error)}): {fix}") from None
    return found if isinstance(found, dict) else {}


def settle(run: Path, column: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Write down what the scores of a column are made with, unless that was done; return what they were begun with."""
    place = _place(run, column)
    found = settled(run, column)
    if found is not None:
        return found
    beside = make_folder(place.with_name(f".{place.name}.{uuid4().hex}"))
    try:
        write_atomically(beside / FILE, json.dumps(dict(settings)).encode(), durable=True)
        beside.rename(place)  # fails if another worker was first
    except OSError as error:
        found = settled(run, column)
        if found is None:
            raise RunError(f"cannot write {place}: {reason(error)}; make the run folder writable") from None
        return found
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return dict(settings)


def _place(run: Path, column: str) -> Path:
    return run / FOLDER / hashlib.sha256(column.encode()).hexdigest()[:16]
