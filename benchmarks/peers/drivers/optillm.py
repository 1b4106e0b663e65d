"""optillm's majority_voting plugin and best_of_n_sampling, with a client that returns what is stored."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

from benchmarks.peers.drivers.driver import Question, Verdict, per_question, run, skip_init

skip_init("optillm")  # starts with its server, which needs torch


class Stored:
    """A chat client: all samples in one reply, then the score of each as its rating from 0 to 10."""

    def __init__(self, question: Question) -> None:
        self.ratings = iter(question.scores)
        self.answers = question.answers
        self.chat = SimpleNamespace(completions=self)

    def create(self, *, n: int = 1, **_: Any) -> Any:
        texts = self.answers if n > 1 else [repr(10 * next(self.ratings))]
        choices = [SimpleNamespace(message=SimpleNamespace(content=text), finish_reason="stop") for text in texts]
        return SimpleNamespace(choices=choices, usage=SimpleNamespace(completion_tokens=0))


def majority_voting(question: Question) -> Verdict:
    vote = import_module("optillm.plugins.majority_voting_plugin").run
    return str(vote("", "?", Stored(question), "stored", {"k": len(question.answers)})[0])


def best_of_n(question: Question) -> Verdict:
    vote = import_module("optillm.bon").best_of_n_sampling
    return str(vote("", "?", Stored(question), "stored", len(question.answers))[0])


def self_consistency(question: Question) -> Verdict:
    vote = import_module("optillm.self_consistency").AdvancedSelfConsistency(None, "stored")
    return str(vote.aggregate_results(question.answers)["clusters"][0]["answer"])


RULES = {
    "majority_voting": per_question(majority_voting),
    "bon": per_question(best_of_n),
    "self_consistency": per_question(self_consistency),
}

if __name__ == "__main__":
    run(RULES, "optillm")
