"""The number of cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return the number of usable cores: under taskset, Slurm or a container's cpuset, fewer than the machine has.

    >>> 1 <= usable_cores() <= os.cpu_count()
    True
    """
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
