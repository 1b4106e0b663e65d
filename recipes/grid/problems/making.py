"""Make one problem from a domain, a seed and a level; rightly, or with a typical mistake."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from recipes.grid.problems.domains import BY_DOMAIN
from recipes.grid.problems.work import Problem, Work

DOMAINS = tuple(BY_DOMAIN)
LEVELS = (1, 2, 3)


def make(domain: str, seed: int | str, level: int, slip: int | None = None) -> Problem:
    """Return the problem of these arguments, the same on every machine; `slip` is the step that goes wrong."""
    return _made(domain, seed, level, slip)[0]


def flawed(domain: str, seed: int | str, level: int, which: int) -> Problem | None:
    """The same question with its `which`-th mistake (from 0); None if that changes nothing or makes no sense."""
    right, chances = _made(domain, seed, level, None)
    if which >= chances:
        return None
    try:
        wrong = make(domain, seed, level, slip=which)
    except ZeroDivisionError:
        return None
    return None if wrong.answer in {right.answer, "0"} or wrong.answer.startswith("-") else wrong


def mistakes(problem: Problem) -> Iterator[Problem]:
    """Every flawed solution of a problem that ends with another answer."""
    chances = _made(problem.domain, problem.seed, problem.level, None)[1]
    found = (flawed(problem.domain, problem.seed, problem.level, which) for which in range(chances))
    return (wrong for wrong in found if wrong)


def solution(problem: Problem, style: str = "verbose") -> str:
    """The steps one a line, as sentences ("verbose") or bare equations ("terse"), and the answer on the last line."""
    if style not in {"verbose", "terse"}:
        raise ValueError(f"unknown style {style!r}: verbose or terse")
    lines = [step.verbose if style == "verbose" else step.terse for step in problem.steps]
    return "\n".join([*lines, f"Answer: {problem.answer}"])


def _made(domain: str, seed: int | str, level: int, slip: int | None) -> tuple[Problem, int]:
    """The problem, and at how many steps a mistake is possible. What is drawn never depends on the mistake."""
    if domain not in BY_DOMAIN or level not in LEVELS:
        raise ValueError(f"no domain {domain!r} at level {level!r}: domains are {', '.join(DOMAINS)}, levels 1 to 3")
    rng, work = Random(f"{domain}/{level}/{seed}"), Work(slip)
    template = rng.choice(BY_DOMAIN[domain])
    asked = template(rng, level, work)
    answer, name = work.show(asked.answer), template.__name__
    return Problem(domain, name, level, asked.text, tuple(work.steps), answer, asked.numbers, str(seed)), work.chances
