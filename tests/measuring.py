"""Processes that are not measured for coverage."""

from __future__ import annotations

import os
from collections.abc import Mapping


def unmeasured(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment in which a process is not measured for coverage: that writes and renames files too."""
    return {name: value for name, value in environment.items() if not name.startswith("COV")}
