"""The reducers of inspect_ai that vote, on scores whose values are the answers."""

from __future__ import annotations

from inspect_ai.scorer import Score
from inspect_ai.scorer._reducer.reducer import majority_score, mode_score

from benchmarks.peers.drivers.driver import Question, Rule, Verdict, per_question, run


def reducer(make: type) -> Rule:
    reduce = make()

    def choose(question: Question) -> Verdict:
        value = reduce([Score(value=answer) for answer in question.answers]).value
        return value if isinstance(value, str) else None  # NaN: no strict majority

    return per_question(choose)


if __name__ == "__main__":
    run({"mode": reducer(mode_score), "majority": reducer(majority_score)}, "inspect-ai")
