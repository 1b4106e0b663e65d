"""What a worker does, whoever started it: a check, then part after part. What goes wrong is one line of text."""

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
    """Why a worker may not begin: it is not the Steelyard of the driver, or reads other files than the driver.

    >>> refusal("node-7", "0.0.1", {})
    'the worker on node-7 has Steelyard 0.1.0, and this command is 0.0.1: install 0.0.1 on every machine'
    """
    if version != __version__:
        return (
            f"the worker on {where} has Steelyard {__version__}, and this command is {version}: "
            f"install {version} on every machine"
        )
    for path, digest in reads.items():
        try:
            found = sha256_of(Path(path))
        except OSError as error:
            return f"the worker on {where} cannot read {path} ({reason(error)}): {SHARED}"
        if found != digest:
            return f"the worker on {where} reads another {path} than this command: {SHARED}"
    return None


def attempt(task: Callable[[Any, Any], Any], order: Any, part: Any) -> tuple[bool, Any]:
    """Do a part; return True and its summary, or False and why it could not be done."""
    try:
        return True, task(order, part)
    except SteelyardError as error:
        return False, " ".join(str(error).split())
    except Exception as error:  # noqa: BLE001 - one part is lost, the others are not
        return False, f"{type(error).__name__}: {reason(error)}"
