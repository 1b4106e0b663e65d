"""Algebra of many requests at once: each has its share of the time, so that nobody delays the others for long."""

from __future__ import annotations

import asyncio
import time

import pytest

import steelyard as sy
from steelyard.answers import equivalence
from steelyard.answers.equivalence import Worker
from steelyard.gateway import counting
from steelyard.gateway.counting import Counted, Counting

VOTER = sy.MajorityVote()


def rows(answers: list[str]) -> list[Counted]:
    return [Counted(i, "", answer, None) for i, answer in enumerate(answers)]


@pytest.fixture
def slow_worker(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A worker that takes 0.03 s and knows nothing; what it was asked."""
    asked: list[tuple[str, ...]] = []

    def ask(_: Worker, *words: str) -> str:
        asked.append(words)
        time.sleep(0.03)
        return equivalence.UNKNOWN

    monkeypatch.setattr(Worker, "ask", ask)
    monkeypatch.setattr(Worker, "start", lambda _: None)
    return asked


def bombs(request: int) -> list[str]:
    return [rf"\int_0^{{{request}}} f_{{{i}}}(x)\,dx" for i in range(8)]


def test_hostile_algebra_of_many_requests_delays_another_by_its_share_alone(
    slow_worker: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "ALGEBRA", 0.12)
    monkeypatch.setattr(counting, "LEAST", 0.03)

    async def run() -> tuple[int, list[str]]:
        shared = Counting()
        hostile = [asyncio.create_task(shared.outcome(rows(bombs(k)), VOTER, "math")) for k in range(5)]
        await asyncio.sleep(0.01)
        outcome, _ = await shared.outcome(rows([r"\sqrt[3]{x}", r"\sqrt[3]{x}", "y"]), VOTER, "math")
        before = len(slow_worker)
        assert outcome.answers[0].votes == 2
        found = await asyncio.gather(*hostile)
        shared.close()
        return before, found[0][1]

    before, notes = asyncio.run(run())
    assert 0 < before < 20  # questions that went before; there are 5 * 8 and more
    assert "not compared in time" in notes[0]


def test_what_was_not_asked_in_time_is_asked_later(slow_worker: list[tuple[str, ...]]) -> None:
    checker = equivalence.EquivalenceChecker()
    checker.until = time.monotonic() - 1
    assert checker.decide([("a", "b")]) == [None]
    assert slow_worker == []
    checker.until = time.monotonic() + 60
    assert checker.decide([("a", "b")]) == [None]
    assert slow_worker == [("a", "b")]
