"""Graded chat answers: every question has correct, incorrect and declining sentences that are worded differently."""

from __future__ import annotations

from typing import Any

SENTENCES = (
    "{} won it, in a close final that went on for hours.",
    "In the end the prize of that year went to {} after some debate.",
    "Records of the city show that {} took the title that summer.",
    "Most sources list {} as the one who beat all others in that contest.",
)
FIRST, LAST = ("Tallis", "Brenna", "Corvin", "Odile", "Maren"), ("Brandt", "Quill", "Haddock", "Vey", "Sorrel", "Ames")
DECLINES = "I don't have reliable information about that contest."
EVASIVE = "That contest is not something that anybody has ever written about."


def graded_answers(questions: int = 30) -> list[dict[str, Any]]:
    """Three correct, one incorrect and one declining response per question; question 0 has declining ones only.

    The winning response of question 1 evades the question, was graded so, and is not recognised as declining.
    """
    rows = []
    for i in range(questions):
        right, wrong = (f"{FIRST[(i + shift) % 5]} {LAST[(i + shift) % 6]}" for shift in (0, 1))
        texts = [(text.format(right), "C") for text in SENTENCES[:3]]
        texts += [(SENTENCES[3].format(wrong), "I"), (DECLINES, "N")]
        texts = [(DECLINES, "N")] * 5 if i == 0 else [(EVASIVE, "N")] * 5 if i == 1 else texts
        prompt = f"Who won contest number {i}?"
        rows += [{"question": f"q{i:02}", "prompt": prompt, "response": text, "grade": grade} for text, grade in texts]
    return rows
