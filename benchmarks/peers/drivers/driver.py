"""The protocol of all drivers: `python -m DRIVER RULE RESPONSES VERDICTS`, with the standard library alone.

RESPONSES has one JSON object per line and question: `answers`, `scores` and `sources`, one of each per response.
VERDICTS is one JSON object: `verdicts` (an answer per question, null for none), `version`, `cpu` (seconds of the vote
on responses in memory in the form that the peer takes, the least of a few calls) and `memory` (MB, the peak of the
process).
"""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path
from types import ModuleType
from typing import Any

CALLS, ENOUGH = 4, 1.0  # the first call warms up; no third one once this many seconds of CPU are spent


@dataclass(frozen=True)
class Question:
    answers: list[str]
    scores: list[float]
    sources: list[str]


Verdict = str | None


@dataclass(frozen=True)
class Rule:
    """How a peer decides all questions; `prepare` puts them into the form it takes, and is not measured."""

    decide: Callable[[Any], Sequence[Verdict]]
    prepare: Callable[[list[Question]], Any] = list


def per_question(choose: Callable[[Question], Verdict]) -> Rule:
    """Return the rule that decides one question at a time."""
    return Rule(lambda questions: [choose(question) for question in questions])


def run(rules: Mapping[str, Rule], package: str | None = None) -> None:
    """Apply the rule named on the command line; `package` is the distribution whose version is reported."""
    name, responses, verdicts = sys.argv[1:]
    with Path(responses).open() as lines:
        data = rules[name].prepare([Question(**json.loads(line)) for line in lines])
    times: list[float] = []
    while len(times) < 2 or (len(times) < CALLS and sum(times) < ENOUGH):
        before = _cpu()
        winners = rules[name].decide(data)
        times.append(_cpu() - before)
    result = {
        "verdicts": list(winners),
        "version": version(package) if package else None,
        "cpu": min(times),
        "memory": _peak(),
    }
    Path(verdicts).write_text(json.dumps(result))


def skip_init(package: str) -> None:
    """Make modules of a package importable without its `__init__`, which imports what its votes do not need."""
    module = ModuleType(package)
    module.__path__ = [str(distribution(package).locate_file(package))]
    sys.modules[package] = module


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _peak() -> float:
    """VmHWM where there is one: ru_maxrss may be the peak of the parent, because it survives fork and exec."""
    status = Path("/proc/self/status")
    if status.exists() and (match := re.search(r"VmHWM:\s+(\d+)", status.read_text())):
        return int(match[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
