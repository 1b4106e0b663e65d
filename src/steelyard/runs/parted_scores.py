"""The score settings of a run in parts: one folder per column in RUN/scores, created once.

Every part also stores its own settings; this file keeps another model or split out of parts without scores.
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


def stored_settings(run: Path, column: str) -> dict[str, Any] | None:
    """Return the settings of a score column, or None if it has none."""
    path = _folder(run, column) / FILE
    try:
        settings = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        fix = "restore it, or name another column with --as"
        raise RunError(f"{path} cannot be read ({reason(error)}): {fix}") from None
    return settings if isinstance(settings, dict) else {}


def fix_settings(run: Path, column: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Store the settings of a score column unless they exist; return the stored ones."""
    folder = _folder(run, column)
    stored = stored_settings(run, column)
    if stored is not None:
        return stored
    draft = make_folder(folder.with_name(f".{folder.name}.{uuid4().hex}"))
    try:
        write_atomically(draft / FILE, json.dumps(dict(settings)).encode(), durable=True)
        draft.rename(folder)  # fails if another worker was first
    except OSError as error:
        stored = stored_settings(run, column)
        if stored is None:
            raise RunError(f"cannot write {folder}: {reason(error)}; make the run folder writable") from None
        return stored
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return dict(settings)


def _folder(run: Path, column: str) -> Path:
    return run / FOLDER / hashlib.sha256(column.encode()).hexdigest()[:16]
