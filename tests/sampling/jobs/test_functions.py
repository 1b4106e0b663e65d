"""The jobs as Python functions: they do what the verbs do, in async code and outside of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.sampling.interrupts import at_first_signal, wait_for
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for, generate, wait_for_samples
from tests.upstreams import FaultUpstream, command, fault_upstream
from tests.waiting import PATIENCE

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def test_the_function_and_the_verb_make_the_same_table(upstream: FaultUpstream, tmp_path: Path) -> None:
    made = sy.generate(ask_for(tmp_path, 3), tmp_path / "mine", upstream=upstream.url, model="same", n=2)
    assert (made.requested, made.done, made.failed) == (6, 6, 0)
    assert generate(upstream, tmp_path, "same", "-n", 2).code == 0
    assert sy.score(tmp_path / "mine", "logprob").new == 6
    assert steelyard("score", tmp_path / "run", "--verifier", "logprob").code == 0
    mine, theirs = (pl.read_parquet(tmp_path / name / "table.parquet") for name in ("mine", "run"))
    assert mine.equals(theirs)
    assert sy.status(tmp_path / "mine")["verifiers"]["logprob"]["done"] == 6


def test_a_finished_run_asks_nobody(upstream: FaultUpstream, tmp_path: Path) -> None:
    for _ in range(2):
        made = sy.generate(str(ask_for(tmp_path, 2)), str(tmp_path / "run"), upstream=upstream.url, model="once", n=2)
    assert (made.there, made.done) == (4, 0)
    assert set(upstream.samples("once").values()) == {1}


def test_progress_is_told_where_the_work_stands_and_every_sample(upstream: FaultUpstream, tmp_path: Path) -> None:
    stood: list[Any] = []
    came: list[Any] = []
    scored: list[float] = []
    questions = ask_for(tmp_path, 2)
    sy.generate(questions, tmp_path / "run", upstream=upstream.url, model="told", n=2, progress=stood.append)
    asked = sy.ask("How many?", upstream=upstream.url, model="told", n=3, progress=came.append)
    sy.score(tmp_path / "run", "logprob", progress=scored.append)
    assert stood[-1].requested == 4
    assert sorted(came) == asked.draws
    assert scored[-1] == 1.0


def test_ask_decides_as_its_verb(upstream: FaultUpstream) -> None:
    asked = sy.ask("How many?", upstream=upstream.url, model="m", n=6, seed=3)
    words = ("--upstream", upstream.url, "--model", "m", "-n", 6, "--seed", 3, "--json")
    told = json.loads(steelyard("ask", "How many?", *words).out)
    assert (asked.answer, asked.confidence, asked.method) == (told["answer"], told["confidence"], told["method"])


def test_vote_decides_as_its_verb_and_takes_a_method_or_its_plan(cal: sy.LabelledPool, tmp_path: Path) -> None:
    sy.write(sy.simulate(40, 16, seed=5), tmp_path / "t.parquet")
    fitted = sy.CalibratedVote(reserve=0.5).fit(cal)
    fitted.save(tmp_path / "plan.json")
    words = ("--plan", tmp_path / "plan.json", "--risk", 0.3, "-o", tmp_path / "v.parquet")
    assert steelyard("vote", tmp_path / "t.parquet", *words).code == 0
    verdicts = sy.vote(tmp_path / "t.parquet", fitted, risk=0.3)
    assert verdicts.equals(sy.vote(tmp_path / "t.parquet", tmp_path / "plan.json", risk=0.3))
    assert verdicts.equals(pl.read_parquet(tmp_path / "v.parquet"))
    assert "answered" in verdicts.columns


@pytest.mark.parametrize("name", ["generate", "score", "ask", "doctor"])
def test_inside_an_event_loop_the_async_form_is_asked_for_in_one_line(name: str) -> None:
    async def inside() -> None:
        getattr(sy, name)()

    says = rf"^an event loop is running here.*: write 'await a{name}\(..\)' instead of '{name}\(..\)'$"
    with pytest.raises(sy.SettingError, match=says) as told:
        asyncio.run(inside())
    assert "\n" not in str(told.value)


def test_several_jobs_share_one_loop(upstream: FaultUpstream) -> None:
    async def both() -> list[str | None]:
        jobs = [sy.aask("How many?", upstream=upstream.url, model="m", n=4, seed=seed) for seed in (1, 2)]
        return [asked.answer for asked in await asyncio.gather(*jobs)]

    alone = [sy.ask("How many?", upstream=upstream.url, model="m", n=4, seed=seed).answer for seed in (1, 2)]
    assert asyncio.run(both()) == alone


def test_a_cancelled_generate_saves_what_arrived_and_goes_on_from_there(tmp_path: Path) -> None:
    questions, run = ask_for(tmp_path, 40), tmp_path / "run"
    with fault_upstream(tmp_path) as upstream:
        upstream.allow(16)

        async def impatient() -> None:
            work = sy.agenerate(questions, run, upstream=upstream.url, model="m", n=2, concurrency=2)
            task = asyncio.ensure_future(work)
            await asyncio.to_thread(wait_for_samples, run, 4)
            task.cancel()
            await asyncio.to_thread(upstream.allow)
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(impatient())
        before = sy.status(run)["samples"]["done"]
        assert 4 <= before < 80
        made = sy.generate(questions, run, upstream=upstream.url, model="m", n=2)
        assert (made.there, made.done) == (before, 80 - before)
        assert set(upstream.samples("m").values()) == {1}


SCRIPT = """
import sys, steelyard as sy
try:
    sy.generate(sys.argv[1], sys.argv[2], upstream=sys.argv[3], model="m", n=2, concurrency=2)
except KeyboardInterrupt:
    print(sy.status(sys.argv[2])["samples"]["done"])
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_script_well_and_comes_out_as_keyboard_interrupt(tmp_path: Path, number: int) -> None:
    with fault_upstream(tmp_path, delay=0.1) as upstream:
        upstream.allow(16)
        _, environment = command()
        words = [sys.executable, "-c", SCRIPT, str(ask_for(tmp_path, 40)), str(tmp_path / "run"), upstream.url]
        with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
            wait_for_samples(tmp_path / "run", 4)
            process.send_signal(number)
            upstream.allow()
            out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert 4 <= int(out) < 80


def test_the_first_signal_calls_what_it_is_told_and_the_second_one_interrupts() -> None:
    heard = []

    async def main() -> None:
        with at_first_signal(lambda: heard.append("first")):
            os.kill(os.getpid(), signal.SIGINT)
            while not heard:
                await asyncio.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(3600)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert heard == ["first"]


def test_a_job_that_is_waited_for_leaves_the_signals_as_they_were() -> None:
    async def nothing() -> int:
        return 1

    before = [signal.getsignal(number) for number in SIGNALS]
    assert wait_for(nothing()) == 1
    assert [signal.getsignal(number) for number in SIGNALS] == before


@contextmanager
def handling(*handlers: Any) -> Iterator[None]:
    """Have these handlers of SIGINT and SIGTERM, as a program around ours might."""
    before = [signal.signal(number, handler) for number, handler in zip(SIGNALS, handlers, strict=True)]
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)


def own(number: int, frame: object) -> None:
    raise AssertionError(f"signal {number} was for the job: {frame}")


@pytest.mark.parametrize("handlers", [(own, own), (signal.SIG_IGN, signal.SIG_IGN), (signal.default_int_handler, own)])
@pytest.mark.parametrize("number", [None, *SIGNALS])
def test_handlers_of_the_program_around_it_are_put_back_however_a_job_ends(
    handlers: tuple[Any, Any], number: int | None
) -> None:
    async def work() -> int:
        if number is not None:
            os.kill(os.getpid(), number)
            await asyncio.sleep(3600)
        return 1

    with handling(*handlers):
        if number is None:
            assert wait_for(work()) == 1
        else:
            with pytest.raises(KeyboardInterrupt):
                wait_for(work())
        assert tuple(signal.getsignal(each) for each in SIGNALS) == handlers


def test_in_another_thread_a_job_works_and_sets_no_handler() -> None:
    seen: list[Any] = []

    async def work() -> None:
        seen.append(tuple(signal.getsignal(number) for number in SIGNALS))

    with handling(own, own):
        thread = threading.Thread(target=lambda: wait_for(work()))
        thread.start()
        thread.join()
        assert seen == [(own, own)]
        assert tuple(signal.getsignal(number) for number in SIGNALS) == (own, own)


def test_progress_hears_the_end_of_generate(upstream: FaultUpstream, tmp_path: Path) -> None:
    heard: list[tuple[int, int, float]] = []
    sy.generate(
        ask_for(tmp_path, 2), tmp_path / "run", upstream=upstream.url, model="end", n=2,
        progress=lambda made: heard.append((made.done, made.under_way, made.waiting)),
    )  # fmt: skip
    assert heard[-1] == (4, 0, 0.0)


@pytest.mark.parametrize("when", [0, 4])
def test_what_progress_raises_stops_generate_and_comes_out_when_all_that_arrived_is_saved(
    tmp_path: Path, when: int
) -> None:
    questions, run = ask_for(tmp_path, 40), tmp_path / "run"

    def fail(made: Any) -> None:
        if made.done >= when:
            raise ZeroDivisionError("mine")

    with fault_upstream(tmp_path, delay=0.1) as upstream:
        with pytest.raises(ZeroDivisionError, match="mine"):
            sy.generate(questions, run, upstream=upstream.url, model="m", n=2, concurrency=2, progress=fail)
        before = sy.status(run)["samples"]["done"]
        assert when <= before < 80
        made = sy.generate(questions, run, upstream=upstream.url, model="m", n=2)
        assert (made.there, made.done) == (before, 80 - before)
        assert set(upstream.samples("m").values()) == {1}
