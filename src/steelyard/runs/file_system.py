"""What a run needs of the storage that it lies on; object stores have none of it."""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import address_of

STORAGE = "a run needs a file system with rename and flock that all machines share, as NFS 4 or Lustre with -o flock"


def check_no_store(run: str | Path) -> None:
    """Refuse an address as the folder of a run."""
    if re.match(r"\w+:/", str(run)):
        told = address_of(run) or run
        raise RunError(
            f"{told} is no folder of a file system: {STORAGE}; tables may lie there, runs may not: name such a folder"
        )
