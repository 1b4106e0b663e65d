"""Print samples to judge: `python3 -m recipes.grid.problems [domain ...]`."""

from __future__ import annotations

import sys

from recipes.grid.problems import DOMAINS, make, mistakes, solution


def show(domain: str, seed: int, level: int) -> None:
    """One problem: the question, both solutions, and a flawed one."""
    problem = make(domain, seed, level)
    print(f"== {domain}/{problem.template}, level {level}, seed {seed}\n{problem.text}\n")
    print(f"{solution(problem, 'verbose')}\n\n{solution(problem, 'terse')}\n")
    wrong = next(mistakes(problem), None)
    if wrong:
        print(f"-- flawed\n{solution(wrong)}\n")


def main(domains: list[str]) -> None:
    """One problem of every level for each domain."""
    for domain in domains or DOMAINS:
        for level in (1, 2, 3):
            show(domain, seed=level, level=level)


if __name__ == "__main__":
    main(sys.argv[1:])
