"""The questions of the task."""

from __future__ import annotations

from typing import Any

from datasets import Dataset

QUESTIONS = [
    ("What is 1/4 + 1/4?", "1/2"),
    ("What is 3/4 - 1/2?", "1/4"),
    ("What is 2/3 times 3/2?", "1"),
    ("What is 1/2 divided by 4?", "1/8"),
    ("What is 1/3 + 1/6?", "1/2"),
    ("What is 5/4 - 1/2?", "3/4"),
]


def questions(**_: Any) -> dict[str, Dataset]:
    """Return the split `test`."""
    return {"test": Dataset.from_list([{"question": question, "answer": answer} for question, answer in QUESTIONS])}
