"""The process that asks math-verify: limited in memory and CPU, killed by its parent at a deadline.

Reads lines of JSON on stdin. [a]: can it be read, and what number is it? Answers a number, "symbolic" (it has letters,
or no value) or null (it cannot be read). [a, b]: are they the same? Answers true or false, asked in both directions.
It only parses LaTeX: sympy's own parser evaluates Python and is never given an answer.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any

MEMORY = 1 << 30  # bytes
SECONDS = 3  # of CPU for one question
NO_ALARM = 0  # math-verify takes what its own alarm ends for different; our parent, who kills us, for unknown


def limit_cpu() -> None:
    """Allow a few more seconds than were used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


@lru_cache(maxsize=1000)
def read(text: str) -> list[Any]:
    """Parse one answer as LaTeX."""
    from math_verify import LatexExtractionConfig, parse

    found: list[Any] = parse(f"${text}$", [LatexExtractionConfig()], parsing_timeout=NO_ALARM)
    return found


def value(text: str) -> float | str | None:
    """The number an answer stands for, "symbolic" if it has none, None if it cannot be read."""
    found = read(text)
    expressions = [item for item in found if not isinstance(item, str)]
    if not expressions:
        return None
    expression = expressions[0]
    if getattr(expression, "free_symbols", True):
        return "symbolic"
    number = complex(expression.evalf())
    return number.real if abs(number.imag) < 1e-12 and abs(number.real) < 1e300 else "symbolic"


def same(a: str, b: str) -> bool:
    """Ask in both directions."""
    from math_verify import verify

    one, two = read(a), read(b)
    return bool(verify(one, two, timeout_seconds=NO_ALARM) and verify(two, one, timeout_seconds=NO_ALARM))


def main() -> None:
    with suppress(ValueError, OSError):  # macOS refuses: there only the limit of CPU bounds what a question can take
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable(logging.CRITICAL)
    same("1", "1")
    value("1")  # everything is imported before the first deadline runs
    print("ready", flush=True)
    for line in sys.stdin:
        limit_cpu()
        words = json.loads(line)
        try:
            reply: object = value(*words) if len(words) == 1 else same(*words)
        except Exception:  # noqa: BLE001 - whatever is raised on hostile text, it could not be read
            reply = (None, False)[len(words) - 1]
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
