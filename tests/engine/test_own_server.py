"""Several servers of one verifier: each worker asks its own, and more workers than servers are spread over them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from steelyard.engine import score_worker
from steelyard.engine.score_worker import read_servers, take
from steelyard.foundation.errors import SettingError
from tests.engine.test_parted_generate import generated, table
from tests.engine.test_parted_score import ENGINE
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for
from tests.sampling.jobs.test_score import p_true_words, questions_asked
from tests.sampling.verifiers.verifier_servers import fault_verifier
from tests.upstreams import FaultUpstream

SERVERS = ("http://a:8000/v1", "http://b:8000/v1", "http://c:8000/v1")


def test_workers_are_spread_evenly_and_a_dead_one_leaves_its_server_to_the_next(tmp_path: Path) -> None:
    taken = [take(tmp_path, SERVERS) for _ in range(7)]
    assert [server for server, _ in taken[:3]] == list(SERVERS)
    assert sorted(Counter(server for server, _ in taken).values()) == [2, 2, 3]
    os.close(taken[1][1])  # as the end of a process does
    assert take(tmp_path, SERVERS)[0] == taken[1][0]


def test_a_worker_asks_the_same_server_for_all_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_worker, "_servers", {})
    for run in ("one", "other"):
        (tmp_path / run / "locks").mkdir(parents=True)
        found = [score_worker.own_server(tmp_path / run, SERVERS) for _ in range(3)]
        assert found == [SERVERS[0]] * 3
        assert take(tmp_path / run / "locks", SERVERS)[0] == SERVERS[1]
    assert score_worker.own_server(tmp_path, SERVERS[:1]) == SERVERS[0]
    assert score_worker.own_server(tmp_path, ()) is None


def test_servers_that_cannot_be_asked_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="names a server twice"):
        read_servers("http://a:8000/v1,http://a:8000/v1", "OPENAI_API_KEY")
    for said, upstream, words in (
        ("must begin with http:// or https://", "http://a:8000/v1,b:8000", ENGINE),
        ("the embedded LLM is for one process", "http://a:8000/v1,local", ENGINE),
        ("several servers need a run in parts", "http://a:8000/v1,http://b:8000/v1", ()),
    ):
        done = steelyard("score", tmp_path, "--verifier", "p-true", "--model", "m", "--upstream", upstream, *words)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert said in done.err


@pytest.mark.usefixtures("key")
@pytest.mark.long
def test_two_processes_ask_two_servers_and_the_scores_are_those_of_one(upstream: FaultUpstream, tmp_path: Path) -> None:
    questions = ask_for(tmp_path, 24)
    run, plain = tmp_path / "run", tmp_path / "plain"
    assert generated(upstream, questions, run, "m", "--engine", "processes:2", "--parts", 8).code == 0
    assert generated(upstream, questions, plain, "m").code == 0
    places = [tmp_path / name for name in ("a", "b")]
    for place in places:
        place.mkdir()
    with fault_verifier(places[0], delay=0.1) as first, fault_verifier(places[1], delay=0.1) as second:
        both = f"{first.url}/v1,{second.url}/v1"
        words = [*p_true_words(run, first, "--engine", "processes:2", "--workers", 2)]
        words[words.index(f"{first.url}/v1")] = both
        done = steelyard(*words)
        assert done.code == 0, done.err
        asked, again = questions_asked(first), questions_asked(second)
        assert asked
        assert again
        assert steelyard(*p_true_words(plain, first)).code == 0
        assert questions_asked(first) - asked == asked + again
    assert table(run).equals(table(plain))
