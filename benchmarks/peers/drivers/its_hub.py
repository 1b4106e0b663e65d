"""its_hub's self-consistency and best-of-N, with an LLM and a reward model that return what is stored."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import its_hub

from benchmarks.peers.drivers.driver import Question, Rule, Verdict, run

SEPARATOR = "\n#"  # its_hub scores equal texts once, so every response has its number behind the answer


class Stored:
    """The LLM and the reward model of one question."""

    def __init__(self, question: Question) -> None:
        self.question, self.next = question, 0

    async def agenerate_single(self, *_: Any, **__: Any) -> dict[str, str]:
        self.next += 1
        return {"role": "assistant", "content": f"{self.question.answers[self.next - 1]}{SEPARATOR}{self.next - 1}"}

    async def ascore(self, conversations: list[list[Any]], **_: Any) -> list[float]:
        numbers = [int(conversation[-1].content.rpartition(SEPARATOR)[2]) for conversation in conversations]
        return [self.question.scores[number] for number in numbers]


def answer_of(text: str) -> str:
    return text.rpartition(SEPARATOR)[0]


async def _decide(questions: list[Question], *, scored: bool) -> list[Verdict]:
    winners: list[Verdict] = []
    random.seed(0)  # its_hub breaks ties at random
    for question in questions:
        stored = Stored(question)
        vote = its_hub.BestOfN(stored) if scored else its_hub.SelfConsistency(answer_of)
        reply = await vote.ainfer(stored, "?", len(question.answers))
        winners.append(answer_of(reply["content"]))
    return winners


RULES = {
    "self-consistency": Rule(lambda questions: asyncio.run(_decide(questions, scored=False))),
    "best-of-n": Rule(lambda questions: asyncio.run(_decide(questions, scored=True))),
}

if __name__ == "__main__":
    run(RULES, "its_hub")
