"""What the published harnesses and LLMs write, and the answer a reader would take from it: corpus/KIND.jsonl.

A line has a style, a response and its answer (null: it has none), written by hand and not made by the code it checks.
What was read counts as correct where it is the same answer by the kind's normal form.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from steelyard.answers.extract import KINDS, kind_of

FOLDER = Path(__file__).parent / "corpus"
NAMES = sorted(file.stem for file in FOLDER.glob("*.jsonl"))
PATTERNS = {"pattern": r"re:=>\s*(\S+)"}


def cases(name: str) -> list[dict[str, str | None]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def misreads(name: str) -> dict[str, list[str]]:
    """What was not read as its line says, by style; a style without any has an empty list."""
    kind = kind_of(PATTERNS.get(name, name))
    wrong: dict[str, list[str]] = defaultdict(list)
    for case in cases(name):
        response, answer, style = str(case["response"]), case["answer"], str(case["style"])
        found = kind.extract(response).answer
        same = found is None if answer is None else found is not None and kind.form(found) == kind.form(answer)
        wrong[style] += [] if same else [f"{style}: {found!r}, not {answer!r}: {response[-90:]!r}"]
    return wrong


@pytest.mark.parametrize("name", NAMES)
def test_of_what_models_write_99_in_100_answers_are_read_correctly(name: str) -> None:
    wrong = misreads(name)
    told = "\n".join(line for lines in wrong.values() for line in lines)
    assert sum(map(len, wrong.values())) <= 0.01 * len(cases(name)), told
    sizes = Counter(case["style"] for case in cases(name))
    for style, lines in wrong.items():
        assert len(lines) <= 0.05 * sizes[style], told


def test_the_corpus_is_large_and_varied_and_has_every_kind() -> None:
    assert {*KINDS} - {"exact", "free"} <= set(NAMES)
    every = [(name, case) for name in NAMES for case in cases(name)]
    assert len(every) >= 1000
    assert len({(name, case["response"]) for name, case in every}) == len(every)
    assert len({(name, case["style"]) for name, case in every}) >= 80
    assert sum(case["answer"] is None for _, case in every) >= 40
