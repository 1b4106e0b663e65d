"""Hints: a word that is nearly another is told, and nothing is guessed."""

from __future__ import annotations

import pytest

from steelyard.foundation.errors import did_you_mean


@pytest.mark.parametrize(
    ("word", "choices"),
    [
        ("question", ["problem_id", "prediction", "reward"]),
        ("problem_id", ["prediction", "answer"]),
        ("answer", ["reward", "sample"]),
        ("score", ["correct", "source_id"]),
    ],
)
def test_no_word_is_taken_for_another_one(word: str, choices: list[str]) -> None:
    assert "did you mean" not in did_you_mean(word, choices)


@pytest.mark.parametrize(
    ("word", "choices", "meant"),
    [
        ("question", ["question_id", "prediction"], "question_id"),
        ("qwen", ["qwen-prm800k", "qwen-prm"], "qwen-prm"),
        ("mni", ["last", "min"], "min"),
        ("respones", ["response", "reward"], "response"),
    ],
)
def test_a_misspelling_or_a_part_of_a_word_is_told(word: str, choices: list[str], meant: str) -> None:
    assert did_you_mean(word, choices).startswith(f"did you mean '{meant}'?")
