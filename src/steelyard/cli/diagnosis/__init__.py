"""Checks that everything a run needs is available: server, verifier, machine, cluster. They change nothing."""

from __future__ import annotations

from dataclasses import dataclass

GOOD, NOTE, BAD = "ok", "note", "red"


@dataclass(frozen=True)
class Finding:
    """What was looked at, whether it is well, what was found, and how to fix it where it is not.

    `note` is something that is not there and that the work goes on without. `upstream` is the name of the one it is
    about, where there are several.
    """

    name: str
    status: str
    found: str
    fix: str = ""
    upstream: str = ""
