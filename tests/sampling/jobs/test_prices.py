"""Prices of tokens: the currency of every cost that is shown, and the names that prices may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for, generate
from tests.sampling.jobs.test_spending import planned
from tests.upstreams import FaultUpstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
EUROS = ("--token-price", "1,2,EUR")


def test_every_cost_has_its_currency(upstream: FaultUpstream, tmp_path: Path) -> None:
    estimate = planned(generate(upstream, tmp_path, "good", "-n", 2, *EUROS, "--dry-run", "--json"))
    assert (estimate["cost"] is None, estimate["currency"]) == (False, "EUR")
    refused = generate(upstream, tmp_path, "good", "-n", 2, *EUROS, "--confirm-above", 0)
    assert " EUR, more than --confirm-above 0" in refused.err
    done = generate(upstream, tmp_path, "good", "-n", 2, *EUROS)
    assert " EUR." in done.out.partition("Spent: ")[2].splitlines()[0]
    status = planned(steelyard("status", tmp_path / "run", *EUROS, "--json"))
    assert status["spent"]["samples"][""]["currency"] == "EUR"
    without = planned(steelyard("status", tmp_path / "run", "--json"))
    assert (without["spent"]["samples"][""]["cost"], without["spent"]["samples"][""]["currency"]) == (None, None)


def test_costs_by_upstream_have_their_currency(upstream: FaultUpstream) -> None:
    servers = ["--upstream", f"a={upstream.url},b={upstream.url}", "--model", "a=good,b=also-good"]
    spent = planned(steelyard("ask", "1 + 1?", *servers, "-n", 2, *EUROS, "--json"))["spent"]
    assert (spent["currency"], spent["upstreams"]["b"]["currency"]) == ("EUR", "EUR")


def test_a_price_for_an_unknown_upstream_is_refused(upstream: FaultUpstream, tmp_path: Path) -> None:
    servers = ["--upstream", f"small={upstream.url},big={upstream.url}", "--model", "small=good,big=also-good"]
    sampling = ["generate", ask_for(tmp_path, 1), *servers, "-n", 1, "-o", tmp_path / "run"]
    assert steelyard(*sampling, "--token-price", "small=1,2", "--token-price", "verifier=1,2").code == 0
    before = len(upstream.entries())
    score = ["score", tmp_path / "run", "--verifier", "p-true", "--upstream", upstream.url, "--model", "good"]
    serve = ["serve", *servers, "--port", 0]
    for words in (sampling, ["ask", "1 + 1?", *servers], ["status", tmp_path / "run"], serve):
        done = steelyard(*words, "--token-price", "smal=1,2")
        assert (done.code, "prices for 'smal'" in done.err, "did you mean 'small'" in done.err) == (2, True, True)
    done = steelyard(*score, "--token-price", "verifer=1,2")
    assert (done.code, "did you mean 'verifier'" in done.err) == (2, True)
    assert len(upstream.entries()) == before
