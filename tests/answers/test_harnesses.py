"""Real responses in lm-eval and Inspect: labels derived from gold answers are those that the harness gave.

harness/NAME.jsonl was written by benchmarks/harness_outputs.py: the response, the gold answer, whether the harness
calls it correct, and what it found in it. The differences of half of the files may be looked at when the reading of
answers is worked on; of the others (COUNTED) a failure shows only how many there are. The LLM of Inspect's tasks was
never right, so these show that nothing wrong is taken for right, and lm-eval's the opposite.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy

FOLDER = Path(__file__).parent / "harness"
NAMES = sorted(file.stem for file in FOLDER.glob("*.jsonl"))
COUNTED = {
    "inspect_code", "inspect_mmlu_cot", "inspect_numbers", "inspect_weekdays",
    "lm_eval_bbh_number_worked", "lm_eval_bbh_text_worked", "lm_eval_mmlu_worked",
}  # fmt: skip
# Inspect takes only a line "ANSWER: .." where it asked for one; what the LLM says otherwise is an answer all the same.
READ_BY_US_ALONE = {"inspect_mmlu": 2, "inspect_mmlu_cot": 1, "inspect_yes_no": 8}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def differences(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The kind that was chosen, and the responses whose derived label is not that of the harness."""
    found = rows(name)
    table = pl.DataFrame(found, infer_schema_length=None).drop("correct", "found")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        pool = sy.read_labelled(table, score="none")
    derived = dict(zip(map(str, pool.questions), pool.correct.tolist(), strict=True))
    return str(pool.origin.answers), [row for row in found if derived[row["question"]] != row["correct"]]


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_those_of_the_harness(name: str) -> None:
    _, different = differences(name)
    beyond = [row for row in different if row["found"]]
    assert len(beyond) <= len(rows(name)) / 100, len(beyond) if name in COUNTED else beyond
    assert len(different) - len(beyond) == READ_BY_US_ALONE.get(name, 0)


def test_the_corpus_is_large_and_half_of_it_was_only_counted() -> None:
    sizes = {name: len(rows(name)) for name in NAMES}
    assert sum(sizes.values()) >= 300
    assert set(NAMES) > COUNTED
    assert sum(sizes[name] for name in COUNTED) >= sum(sizes.values()) / 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for kind in ("choice", "yes-no") for name in NAMES if kind.replace("-", "_") in name],
)
def test_the_kind_is_decided_by_the_golds(name: str, kind: str) -> None:
    assert differences(name)[0] == kind
