"""AdaptiveConsistency: stop by its beta criterion, then the most common answer so far."""

from __future__ import annotations

from adaptive_consistency import AC, BetaStoppingCriteria

from benchmarks.peers.drivers.driver import Question, Verdict, per_question, run

CRITERION = AC(stop_criteria=BetaStoppingCriteria(0.95))


def beta(question: Question) -> Verdict:
    for size in range(1, len(question.answers) + 1):
        state = CRITERION.should_stop(question.answers[:size], return_dict=True)
        if state["stop"]:
            break
    return str(state["most_common"])


if __name__ == "__main__":
    run({"beta": per_question(beta)}, "AdaptiveConsistency")
