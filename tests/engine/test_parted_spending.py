"""What generate and score with an engine have spent."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard as sy
from tests.engine.engines import Here
from tests.engine.in_process import engine
from tests.engine.test_parted_generate import generated
from tests.gateway.test_relay import fixed
from tests.gateway.test_usage import sure
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for
from tests.sampling.jobs.test_spending import PRICE, planned, tokens_of
from tests.upstreams import FaultUpstream

__all__ = ["engine"]
pytestmark = pytest.mark.usefixtures("key", "short_pauses")


def test_the_spending_of_all_parts_is_added_up(upstream: FaultUpstream, tmp_path: Path, engine: Here) -> None:
    questions, run = ask_for(tmp_path, 9), tmp_path / "run"
    words = ("--engine", "ray", "--parts", 4, *PRICE)
    spent = planned(generated(upstream, questions, run, "good", *words, "--json"))["spent"]
    usage = {"requests": 9, "samples": 18, "prompt_tokens": 63, "completion_tokens": tokens_of(9, 2), "uncounted": 0}
    assert spent == usage | {"cost": pytest.approx((63 + 2 * tokens_of(9, 2)) / 1e6), "currency": "USD"}
    assert sy.status(run)["spent"]["samples"] == {"": usage}
    more = generated(upstream, questions, run, "good", *words, n=3)  # only what this command spends
    assert f"Spent: 9 requests, 63 input and {tokens_of(9, 3) - tokens_of(9, 2)} output tokens, cost " in more.out
    with fixed(sure(usage={"prompt_tokens": 50, "completion_tokens": 1})) as url:
        score = ["score", run, "--verifier", "p-true", "--upstream", url, "--model", "m", *words[:2], *PRICE, "--json"]
        scored = planned(steelyard(*score))["spent"]
        again = planned(steelyard(*score))["spent"]
    assert (scored["requests"], scored["prompt_tokens"]) == (27, 1350)
    assert scored["cost"] == pytest.approx((1350 + 2 * 27) / 1e6)
    assert again is None
