"""The limit of open files: every client, and every sample upstream, needs one."""

from __future__ import annotations

import resource
from contextlib import suppress

ENOUGH = 10_240  # what macOS allows at most


def allow_more_files() -> None:
    """Raise the soft limit of this process: macOS starts programs with 256, used up by 28 requests of 8 samples."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(ValueError, OSError):  # a system may refuse; the gateway also works with few
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
