"""Algebra of many requests at once: each has its share of the time, so that nobody delays the others for long."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.answers import equivalence
from steelyard.answers.equivalence import Worker
from steelyard.gateway.vote import vote_counter
from steelyard.gateway.vote.vote_counter import VoteCounter, VoteEntry
from tests.building import labelled
from tests.gateway.gateways import gateway
from tests.gateway.stuck_algebra import stuck_algebra
from tests.upstreams import FaultUpstream
from tests.waiting import with_more_time

VOTER = sy.MajorityVote()


def rows(answers: list[str]) -> list[VoteEntry]:
    return [VoteEntry(i, "", answer, None) for i, answer in enumerate(answers)]


class Clock:
    """A clock that only work moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def slow_worker(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A worker that takes 3 s, by a clock that stands still otherwise, and knows nothing; what it was asked."""
    asked: list[tuple[str, ...]] = []
    clock = Clock()

    def ask(_: Worker, *words: str) -> str:
        asked.append(words)
        clock.now += 3
        return equivalence.UNKNOWN

    monkeypatch.setattr(Worker, "ask", ask)
    monkeypatch.setattr(Worker, "start", lambda _: None)
    for module in (vote_counter, equivalence):
        monkeypatch.setattr(module, "time", clock)
    return asked


def bombs(request: int) -> list[str]:
    return [rf"\int_0^{{{request}}} f_{{{i}}}(x)\,dx" for i in range(8)]


def test_hostile_algebra_of_many_requests_delays_another_by_its_share_alone(
    slow_worker: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vote_counter, "ALGEBRA", 12.0)
    monkeypatch.setattr(vote_counter, "MIN_SECONDS", 3.0)
    monkeypatch.setattr(vote_counter, "THREADS", 1)  # one after the other, as they came
    begin = threading.Event()
    timed = VoteCounter._run_timed

    def when_all_wait(*given: Any) -> Any:
        begin.wait()
        return timed(*given)

    monkeypatch.setattr(VoteCounter, "_run_timed", when_all_wait)

    async def run() -> tuple[int, list[str]]:
        shared = VoteCounter()
        hostile = [asyncio.create_task(shared.outcome(rows(bombs(k)), VOTER, "math")) for k in range(5)]
        await asyncio.sleep(0)
        another = shared.outcome(rows([r"\sqrt[3]{x}", r"\sqrt[3]{x}", "y"]), VOTER, "math")
        waiting = asyncio.create_task(another)
        await asyncio.sleep(0)
        assert shared._running == 6
        begin.set()
        outcome, _ = await waiting
        before = len(slow_worker)
        assert outcome.answers[0].votes == 2
        found = await asyncio.gather(*hostile)
        shared.close()
        return before, found[0][1]

    before, notes = asyncio.run(run())
    assert 0 < before < 12  # questions that went before; there are 5 * 8 and more, and 5 * 4 without shares
    assert "not compared in time" in notes[0]


def test_what_was_not_asked_in_time_is_asked_later(slow_worker: list[tuple[str, ...]]) -> None:
    checker = equivalence.EquivalenceChecker()
    checker.until = -1.0
    assert checker.decide([("a", "b")]) == [None]
    assert slow_worker == []
    checker.until = 60.0
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
        voter.stopping_ = sy.evaluation.rule_class("beta")(cap=8, least=4, threshold=0.999)
    voter.save(plan)

    def check(seconds: float) -> None:
        with stuck_algebra(), gateway(upstream.url, model="fault:integrals&no-n", plan=plan) as running:
            others: list[int] = []
            with ThreadPoolExecutor(2) as clients:
                ours = {"deadline_s": seconds}
                late = clients.submit(running.chat, "what?", "steelyard/plan", seed=0, steelyard=ours)
                while not late.done():
                    others.append(running.send("GET", "/healthz").status)
        assert late.result().status == 200
        told = late.result().json["steelyard"]
        assert [one["votes"] for one in told["answers"]] == [4, 4]
        assert "not compared in time" in " ".join(told["notes"])
        assert len(others) > 1
        assert set(others) == {200}

    with_more_time(check, 1.0)


def test_a_count_that_nobody_waits_for_keeps_its_thread_and_leaves_the_next_one_its_vote() -> None:
    async def run() -> list[str]:
        shared = VoteCounter()
        found = [
            (await shared.outcome(rows(bombs(k)), VOTER, "math", time.monotonic() + 0.01))[1][0]
            for k in range(2 * vote_counter.THREADS)
        ]
        assert shared._running <= vote_counter.THREADS  # those that never began are forgotten
        shared.close()
        return found

    with stuck_algebra():
        assert all("not compared in time" in note for note in asyncio.run(run()))
