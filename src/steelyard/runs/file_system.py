"""What a run requires of its file system; object stores do not provide it."""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import address_of

STORAGE = (
    "a run needs a file system with rename and flock that all machines share, such as NFS 4 or Lustre with -o flock"
)


def check_no_store(run: str | Path) -> None:
    """Refuse an object-store address as the folder of a run."""
    if re.match(r"\w+:/", str(run)):
        shown = address_of(run) or run
        raise RunError(
            f"{shown} is not a folder of a file system: {STORAGE}; only tables can be stored there: name such a folder"
        )
