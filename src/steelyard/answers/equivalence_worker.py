"""Worker process that runs math-verify, with limits on memory and CPU; its parent kills it at a deadline.

It reads lines of JSON from stdin. For [a] it replies with the number a stands for, "symbolic" (a has letters or no
value) or null (a cannot be parsed). For [a, b] it replies true if they are the same in both directions, else false.
It parses LaTeX only: sympy's own parser evaluates Python and never sees an answer.
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
SECONDS = 3  # of CPU per query
NO_ALARM = 0  # math-verify's own timeout means "different"; being killed by the parent means "unknown"


def limit_cpu() -> None:
    """Allow SECONDS more CPU time than used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


@lru_cache(maxsize=1000)
def read(text: str) -> list[Any]:
    """Parse one answer as LaTeX."""
    from math_verify import LatexExtractionConfig, parse

    parsed: list[Any] = parse(f"${text}$", [LatexExtractionConfig()], parsing_timeout=NO_ALARM)
    return parsed


def value(text: str) -> float | str | None:
    """Return the number an answer stands for, "symbolic" if it has none, None if it cannot be parsed."""
    parsed = read(text)
    expressions = [item for item in parsed if not isinstance(item, str)]
    if not expressions:
        return None
    expression = expressions[0]
    if getattr(expression, "free_symbols", True):
        return "symbolic"
    number = complex(expression.evalf())
    return number.real if abs(number.imag) < 1e-12 and abs(number.real) < 1e300 else "symbolic"


def same(a: str, b: str) -> bool:
    """Compare two answers in both directions."""
    from math_verify import verify

    one, two = read(a), read(b)
    return bool(verify(one, two, timeout_seconds=NO_ALARM) and verify(two, one, timeout_seconds=NO_ALARM))


def main() -> None:
    with suppress(ValueError, OSError):  # macOS refuses this limit: only the CPU limit applies there
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable(logging.CRITICAL)
    same("1", "1")
    value("1")  # import everything before the first deadline starts
    print("ready", flush=True)
    for line in sys.stdin:
        limit_cpu()
        query = json.loads(line)
        try:
            reply: object = value(*query) if len(query) == 1 else same(*query)
        except Exception:  # noqa: BLE001 - hostile text may raise anything
            reply = (None, False)[len(query) - 1]
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
