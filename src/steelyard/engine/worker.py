"""The code of a worker on any engine: a check at the start, then part after part. Errors are one line of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import SteelyardError
from steelyard.foundation.files import reason
from steelyard.foundation.version import __version__
from steelyard.runs.manifest import sha256_of

SHARED = "put it into a folder that all machines share"


def refusal(where: str, version: str, reads: Mapping[str, str]) -> str | None:
    """Why a worker cannot start: its version of Steelyard, or a file that it reads, differs from the driver's.

    >>> refusal("node-7", "0.0.1", {})
    'the worker on node-7 has Steelyard 0.2.0, and this command is 0.0.1: install 0.0.1 on every machine'
    """
    if version != __version__:
        return (
            f"the worker on {where} has Steelyard {__version__}, and this command is {version}: "
            f"install {version} on every machine"
        )
    for path, digest in reads.items():
        try:
            actual = sha256_of(Path(path))
        except OSError as error:
            return f"the worker on {where} cannot read {path} ({reason(error)}): {SHARED}"
        if actual != digest:
            return f"the worker on {where} reads another {path} than this command: {SHARED}"
    return None


def attempt(task: Callable[[Any, Any], Any], order: Any, part: Any) -> tuple[bool, Any]:
    """Process a part; return True and its summary, or False and the reason of the failure."""
    try:
        return True, task(order, part)
    except SteelyardError as error:
        return False, " ".join(str(error).split())
    except Exception as error:  # noqa: BLE001 - one part is lost, the others are not
        return False, f"{type(error).__name__}: {reason(error)}"
