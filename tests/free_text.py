"""Plans for free text, as tests of `ask` and the gateway use them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import polars as pl

import steelyard as sy
from steelyard.voting.stopping.stopping_rule import Rule
from tests.sampling.jobs.test_ask_cascade import PRICED
from tests.sampling.jobs.test_cascade_ballot import voter

QUESTION = "Who invented the compiler?"
PHRASES = ("It was {}.", "{} invented it.", "I believe {} did.")


def graded(questions: int = 60, samples: int = 8) -> pl.DataFrame:
    """Graded responses in sentences; questions differ in how often the correct name is given."""
    rng, rows = random.Random(1), []
    for q in range(questions):
        ease = rng.random()
        for sample in range(samples):
            correct = rng.random() < 0.3 + 0.7 * ease
            name = f"Person{q} Family{q}" if correct else f"Other{q} Name{rng.randrange(4)}"
            rows.append({
                "question": str(q), "sample": sample, "prompt": QUESTION, "correct": correct,
                "response": rng.choice(PHRASES).format(name), "self_logprob": rng.uniform(0.3, 0.9),
            })  # fmt: skip
    return pl.DataFrame(rows)


def free_plan(path: Path, rule: Rule | None = None, answers: str = "free") -> Path:
    """A calibrated vote on free text, with a stopping rule."""
    method = sy.CalibratedVote().fit(sy.read_labelled(graded(), answers=answers, score="self_logprob"))
    method.stopping_ = rule
    method.save(path)
    return path


def cascade_plan(path: Path, answers: str = "free") -> Path:
    """A plan with a cascade that claims to be for these answers."""
    method = voter(PRICED)
    assert method.fitted_on_ is not None
    method.fitted_on_ = replace(method.fitted_on_, answers=answers)
    method.save(path)
    return path
