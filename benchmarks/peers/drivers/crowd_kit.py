"""crowd-kit's aggregations with their default settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import crowdkit.aggregation as crowd  # type: ignore[import-not-found]
import pandas as pd

from benchmarks.peers.drivers.driver import Question, Rule, Verdict, run


def as_frame(questions: list[Question]) -> pd.DataFrame:
    rows = [
        (number, source, answer)
        for number, question in enumerate(questions)
        for answer, source in zip(question.answers, question.sources, strict=True)
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def aggregation(make: Callable[[], Any]) -> Rule:
    def decide(votes: pd.DataFrame) -> list[Verdict]:
        labels: list[Verdict] = make().fit_predict(votes).sort_index().tolist()
        return labels

    return Rule(decide, as_frame)


RULES = {
    "MajorityVote": aggregation(crowd.MajorityVote),
    "Wawa": aggregation(crowd.Wawa),
    "ZeroBasedSkill": aggregation(crowd.ZeroBasedSkill),
    "DawidSkene": aggregation(crowd.DawidSkene),
    "OneCoinDawidSkene": aggregation(crowd.OneCoinDawidSkene),
    "GLAD": aggregation(lambda: crowd.GLAD(silent=True)),
    "MACE": aggregation(lambda: crowd.MACE(random_state=0, verbose=0)),
    "MMSR": aggregation(lambda: crowd.MMSR(random_state=0)),
}

if __name__ == "__main__":
    run(RULES, "crowd-kit")
