"""Raises the limit on open files: every client connection and every request to an upstream needs one."""

from __future__ import annotations

import resource
from contextlib import suppress

TARGET = 10_240  # the maximum on macOS


def allow_more_files() -> None:
    """Raise the soft limit of this process: the default of macOS, 256, is used up by 28 requests for 8 samples each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = TARGET if hard == resource.RLIM_INFINITY else min(TARGET, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(ValueError, OSError):  # the system may refuse; the gateway also works with few
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
