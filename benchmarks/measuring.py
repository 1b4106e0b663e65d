"""Timing side by side: A and B take turns, the best of each counts, and the ratio is the result."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # every process would compile every module again


@dataclass(frozen=True)
class Row:
    """One line of the report: what was measured, the figure, the goal, and whether it is met."""

    what: str
    figure: str
    goal: str
    met: bool


def seconds(*tasks: Callable[[], object], repeats: int = 5) -> list[float]:
    """Return the best time of each task; they take turns, so that a noisy moment hits all alike."""
    best = [float("inf")] * len(tasks)
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            start = time.perf_counter()
            task()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def at_most(what: str, ratio: float, goal: float, detail: str) -> Row:
    return Row(what, f"{ratio:.2f} x ({detail})", f"at most {goal:g} x", ratio <= goal)


def at_least(what: str, ratio: float, goal: float, detail: str) -> Row:
    return Row(what, f"{ratio:,.0f} x ({detail})", f"at least {goal:g} x", ratio >= goal)


@dataclass(frozen=True)
class Cost:
    """What a process used, start-up included."""

    cpu: float  # seconds, user and system
    peak: float  # MB


# ru_maxrss would be the parent's peak: it survives fork and exec. VmHWM starts anew.
TAIL = """
import re, resource
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def run(code: str) -> Cost:
    """Run Python code in a process of its own and return what it cost."""
    done = subprocess.run([sys.executable, "-c", code + TAIL], capture_output=True, text=True, check=True)
    cpu, peak = done.stdout.split()[-2:]
    return Cost(float(cpu), float(peak) / 1024)


def children_cpu(command: list[str]) -> float:
    """Return the CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
