"""Algebra of many requests at once: each has its share of the time, so that nobody delays the others for long."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.answers import equivalence
from steelyard.answers.equivalence import Worker
from steelyard.gateway import counting
from steelyard.gateway.counting import Counted, Counting
from tests.building import labelled
from tests.gateway.gateways import gateway
from tests.gateway.stuck_algebra import stuck_algebra
from tests.upstreams import FaultUpstream

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


@pytest.mark.parametrize("rule", [False, True])
def test_a_deadline_holds_although_the_algebra_does_not_end(
    upstream: FaultUpstream, rule: bool, tmp_path: Path
) -> None:
    """The vote is by the answers as they were read, and the reply says so; the event loop goes on meanwhile."""
    plan = tmp_path / "plan.json"
    voter = sy.MajorityVote().fit(labelled(sy.simulate(40, 8, seed=1)))
    if rule:
        voter.stopping_ = sy.rule_class("beta")(cap=8, least=4, threshold=0.999)
    voter.save(plan)
    with stuck_algebra(), gateway(upstream.url, model="fault:integrals&no-n", plan=plan) as running:
        others: list[int] = []
        with ThreadPoolExecutor(2) as clients:
            late = clients.submit(running.chat, "what?", "steelyard/plan", seed=0, steelyard={"deadline_s": 1.0})
            while not late.done():
                others.append(running.send("GET", "/healthz").status)
        told = late.result(20).json["steelyard"]
    assert [one["votes"] for one in told["answers"]] == [4, 4]
    assert "not compared in time" in " ".join(told["notes"])
    assert len(others) > 1
    assert set(others) == {200}


def test_a_count_that_nobody_waits_for_keeps_its_thread_and_leaves_the_next_one_its_vote() -> None:
    async def run() -> list[str]:
        shared = Counting()
        found = [
            (await shared.outcome(rows(bombs(k)), VOTER, "math", time.monotonic() + 0.01))[1][0]
            for k in range(2 * counting.THREADS)
        ]
        assert shared._at_work <= counting.THREADS  # those that never began are forgotten
        shared.close()
        return found

    with stuck_algebra():
        assert all("not compared in time" in note for note in asyncio.run(run()))
