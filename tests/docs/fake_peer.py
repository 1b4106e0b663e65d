"""A peer for tests, under the protocol of all drivers: the last answer wins, or the driver fails."""

from __future__ import annotations

from benchmarks.peers.drivers.driver import Question, Rule, Verdict, per_question, run


def last(question: Question) -> Verdict:
    return question.answers[-1]


def broken(question: Question) -> Verdict:
    raise RuntimeError(f"cannot decide {len(question.answers)} answers, see https://example.org/help")


RULES = {"last": per_question(last), "broken": per_question(broken), "one verdict": Rule(lambda _: ["7"])}

if __name__ == "__main__":
    run(RULES)
