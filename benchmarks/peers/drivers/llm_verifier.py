"""llm-verifier's pivot tournament, with the stored scores as the rewards of both responses of a pair."""

from __future__ import annotations

import random

from benchmarks.peers.drivers.driver import Question, Rule, Verdict, run, skip_init

skip_init("llm_verifier")  # starts with the clients of its judges

from llm_verifier.pivot_tournament import DEFAULT_PIVOTS, ring_cycle, select_best  # noqa: E402


def tournament(questions: list[Question]) -> list[Verdict]:
    rng = random.Random(0)
    winners: list[Verdict] = []
    for question in questions:
        scores, size = question.scores, len(question.answers)

        def reward(a: int, b: int, scores: list[float] = scores) -> tuple[float, float]:
            return scores[a], scores[b]

        best, _ = select_best(size, ring_cycle(size, rng), DEFAULT_PIVOTS, reward)
        winners.append(question.answers[best])
    return winners


if __name__ == "__main__":
    run({"pivot tournament": Rule(tournament)}, "llm-verifier")
