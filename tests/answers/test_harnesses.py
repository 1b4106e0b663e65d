"""Real responses in lm-eval, Inspect and BFCL: labels derived from gold answers are those that the harness gave.

harness/NAME.jsonl was written by benchmarks/harness_outputs.py: the response, the gold answer, whether the harness
calls it correct, and the answer it extracted. The differences of half of the files may be looked at while the reading
of answers is worked on; of the others (COUNTED) a failure shows only how many there are.
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
    "bfcl_tool_calls", "inspect_calendar", "inspect_dates", "inspect_gsm", "inspect_weekdays",
    "lm_eval_bbh_number_worked", "lm_eval_bbh_text_worked", "lm_eval_mmlu_worked",
}  # fmt: skip
# Inspect's multiple choice takes only a line "ANSWER: ..": without one, "D) Door to door." is incorrect.
NOT_EXTRACTED = {"inspect_mmlu": 5, "inspect_mmlu_cot": 1}
TWO_ANSWERS = "two answers are stated: Inspect takes the first, we take the last"
ANYWHERE = "Inspect's includes() accepts a name anywhere in the text"
# Labels that differ although the harness extracted an answer, by question, with the reason.
EXPLAINED = {
    "inspect_code": {
        "code_20": "{'table': 22} and table 22: golds of words and values are compared as text",
        "code_23": 'STONE and "stone": as text',
        "code_7": "apple-x and apple -x: as text",
    },
    "inspect_mmlu": dict.fromkeys(["34"], TWO_ANSWERS),
    "inspect_mmlu_cot": dict.fromkeys(["39"], TWO_ANSWERS),
    "inspect_names": dict.fromkeys(
        ["needle_haystack_11", "needle_haystack_14", "needle_haystack_19", "needle_haystack_3", "needle_haystack_4"],
        ANYWHERE,
    ),
    "inspect_numbers": {"letter_counting_10": "the stated answer is empty; Inspect takes a number of the text"},
}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def differences(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The kind that was chosen, and the responses whose derived label is not that of the harness."""
    responses = rows(name)
    table = pl.DataFrame(responses, infer_schema_length=None)
    # BFCL's decoder makes JSON of a call in Python's syntax; its files of results hold that JSON.
    calls = name == "bfcl_tool_calls"
    table = table.select("question", "gold", answer="found") if calls else table.drop("correct", "found")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        pool = sy.read_labelled(table, score="none")
    labels = zip(responses, pool.correct.tolist(), strict=True)
    return str(pool.origin.answers), [row for row, label in labels if label != row["correct"]]


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_those_of_the_harness(name: str) -> None:
    _, different = differences(name)
    extracted = [row for row in different if row["found"]]
    unexplained = [row for row in extracted if row["question"] not in EXPLAINED.get(name, {})]
    count, limit = len(unexplained), len(rows(name)) / 100
    assert count <= limit, count if name in COUNTED else unexplained
    assert len(different) - len(extracted) == NOT_EXTRACTED.get(name, 0)


def test_the_corpus_is_large_has_both_labels_and_half_of_it_was_only_counted() -> None:
    tables = {name: rows(name) for name in NAMES}
    size = sum(map(len, tables.values()))
    assert size >= 750
    assert sum(row["correct"] for table in tables.values() for row in table) >= 400
    assert set(NAMES) > COUNTED
    assert sum(len(tables[name]) for name in COUNTED) >= size / 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, kind) for kind in ("choice", "yes-no") for name in NAMES if kind.replace("-", "_") in name),
        ("inspect_calendar", "date"),
        ("inspect_gsm", "math"),
        ("bfcl_tool_calls", "json"),
    ],
)
def test_the_kind_is_decided_by_the_golds(name: str, kind: str) -> None:
    assert differences(name)[0] == kind
