"""steelyard score --frugal killed at any moment: nothing is lost, no verdict changes, little is asked twice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard
from tests.sampling.jobs.on_demand import COLUMN, mixed_run, plan_for, verdicts_with_all_scores
from tests.sampling.jobs.test_score import journal, p_true_words, questions_asked
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import command

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
KILLS = int(os.environ.get("STEELYARD_KILLS", "12"))
UNDER_WAY = 64  # requests at once
DELAY = 0.05  # seconds per request


def scores(run: Path) -> dict[tuple[str, int], Any]:
    return {(record["question"], record["sample"]): record["steps"] for record in journal(run, "score")}


def requests(server: FaultVerifier) -> int:
    """How many requests the ledger holds, counted without reading them."""
    return server.ledger.read_bytes().count(b"\n") if server.ledger.exists() else 0


def kill(words: list[str], environment: dict[str, str], server: FaultVerifier, more: int) -> None:
    """Start a command, and kill it when it has asked so many more times; the instant is within a request's time."""
    server.allow(more)  # however late it is killed it does not finish
    asked = requests(server)
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while requests(server) < asked + more and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    server.allow()


@pytest.mark.long
def test_killed_at_random_and_run_again_it_loses_nothing_and_changes_no_verdict(tmp_path: Path) -> None:
    calm, run = (mixed_run(tmp_path / name, questions=6 * KILLS) for name in ("calm", "run"))
    plan = plan_for(tmp_path / "plan.json")
    rng = np.random.default_rng(0)
    under_way = 0
    with fault_verifier(tmp_path, delay=DELAY) as server:
        more = ("--plan", plan, "--frugal", "exact")
        assert steelyard(*p_true_words(calm, server, *more)).code == 0
        server.ledger.unlink()
        words, environment = command(*p_true_words(run, server, *more))
        acknowledged: dict[tuple[str, int], Any] = {}
        for _ in range(KILLS):
            before = sum(questions_asked(server).values())
            kill(words, environment, server, int(rng.integers(2, 44)))
            now = scores(run)
            assert acknowledged.items() <= now.items(), "a score that was there is gone"
            under_way += sum(questions_asked(server).values()) - before - (len(now) - len(acknowledged))
            acknowledged = now
        assert acknowledged, "killed at work, not before it"
        assert len(acknowledged) < len(scores(calm)), "nor after it"
        assert steelyard(*p_true_words(run, server, *more)).code == 0
        asked = questions_asked(server)
    ours, theirs = (pl.read_parquet(each / "table.parquet") for each in (run, calm))
    assert ours.equals(theirs), "the same was asked, and the same was said"
    assert len(asked) == ours[COLUMN].count(), "nothing was asked for that a calm walk does not need"
    assert len(journal(run, "score")) == len(scores(run)), "no score is there twice"
    assert sum(asked.values()) - len(asked) <= under_way <= KILLS * UNDER_WAY, "no more than what was under way"
    assert sy.vote(run, plan)["answer"].to_list() == verdicts_with_all_scores(run, plan)
