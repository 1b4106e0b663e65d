"""The comparison with other packages: the protocol of the drivers, ties, failures, and the page."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.page_sections import with_section
from benchmarks.peers.agreement import agreement, tied
from benchmarks.peers.catalogue import COMMITTEE, GRID, PEERS, Comparison, Peer
from benchmarks.peers.drivers.driver import Question
from benchmarks.peers.environments import NotRunError, finish, last_line, python_of
from benchmarks.peers.measurement import Row, Workbench
from benchmarks.peers.page import PAGE, STORED, TITLE, section, stored, unexplained
from benchmarks.peers.responses import ResponseSet, response_sets
from tests.waiting import until, with_more_time

FAKE = "tests.docs.fake_peer"
QUESTIONS = [
    Question(["7", "7", "8"], [0.2, 0.3, 0.9], ["a", "b", "c"]),  # the last answer is not the majority
    Question(["1", "2"], [0.5, 0.6], ["a", "b"]),  # a tie
    Question(["5", "6", "6"], [0.5, 0.5, 0.5], ["a", "b", "c"]),
]
CORRECT = [frozenset({"7"}), frozenset({"1"}), frozenset({"6"})]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("peers"), {GRID: ResponseSet(QUESTIONS, CORRECT)}, times=1)


def rows_of(bench: Workbench, *comparisons: Comparison) -> list[Row]:
    return list(bench.rows(Peer("fake", FAKE, comparisons), lambda _: Path(sys.executable)))


def test_a_peer_is_compared_with_the_same_responses_and_ties_are_counted(bench: Workbench) -> None:
    (row,) = rows_of(bench, Comparison("last", "majority"))
    assert (row["accuracy"], row["own_accuracy"]) == (pytest.approx(1 / 3), 1.0)
    assert (row["differ"], row["ties"]) == (2, 1)
    assert row["cost"]["memory"] > 0
    assert unexplained([row]) == ["fake, last: 1 verdicts differ"]
    assert not unexplained([row | {"same": False}])


def test_a_peer_that_fails_is_reported_and_the_next_rule_runs(bench: Workbench) -> None:
    comparisons = (Comparison(rule, "majority") for rule in ("broken", "one verdict", "last"))
    broken, short, row = rows_of(bench, *comparisons)
    assert broken["failure"] == "failed: RuntimeError: cannot decide 3 answers, see (address)"
    assert short["failure"] == "1 and 3 verdicts on 3 questions"
    assert "failure" not in row
    assert not unexplained([broken, short])
    text = section({**stored(), "rows": [broken, row]})
    assert "- fake, broken: failed: RuntimeError" in text
    assert "| fake (re-implemented) | last | `majority` | 33.3 % | 100.0 % | 2 (1) |" in text


def test_a_peer_that_cannot_be_installed_is_reported(tmp_path: Path) -> None:
    peer = Peer("missing", FAKE, (), (str(tmp_path / "no-such-package"),))
    with pytest.raises(NotRunError, match=r"not installed: .*no-such-package"):
        python_of(peer, tmp_path / "cache")


def test_a_command_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    def child(seconds: float) -> int:
        code, _ = finish(["sh", "-c", f"sleep 600 & echo $! > {tmp_path}/pid; wait"], seconds)
        assert code is None
        assert (tmp_path / "pid").exists()
        return int((tmp_path / "pid").read_text())

    pid = with_more_time(child, 0.5)
    until(lambda: not _runs(pid))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_reason_is_the_last_error_without_addresses() -> None:
    assert last_line("a\nERROR: no version at https://host/simple\n\nnotice") == "ERROR: no version at (address)"
    assert last_line("") == "it printed nothing"


@pytest.mark.parametrize(
    ("rule", "answers", "tie"),
    [
        ("majority", ("1", "2"), True),
        ("vanilla", ("1", "2"), False),
        ("best-of-n", ("1", "2"), False),
        ("cisc", ("1", "1"), True),
        ("majority", ("1", None), False),
        ("dawid-skene", ("1", "2"), False),
    ],
)
def test_ties_are_answers_with_the_same_total_by_the_rule(rule: str, answers: Iterable[str], tie: bool) -> None:
    assert tied(rule, QUESTIONS[1], *answers) is tie


def test_no_answer_is_wrong() -> None:
    result = agreement(ResponseSet(QUESTIONS, CORRECT), "majority", [None, None, None], ["7", "1", "6"])
    assert (result.accuracy, result.own_accuracy, result.differ, result.ties) == (0, 1, 3, 0)


def test_the_responses_are_those_of_the_grid_and_letters_for_the_committee() -> None:
    sets = response_sets()
    assert {name: len(responses.questions) for name, responses in sets.items()} == {GRID: 1000, COMMITTEE: 1000}
    assert {len(question.answers) for question in sets[GRID].questions} == {16}
    letters = {answer for question in sets[COMMITTEE].questions for answer in question.answers}
    assert letters == set("ABCDE")


def test_the_page_shows_what_is_stored() -> None:
    page = PAGE.read_text()
    assert with_section(page, TITLE, section(stored())) == page
    assert {row["peer"] for row in stored()["rows"]} == {peer.name for peer in PEERS}
    assert not unexplained(stored()["rows"])
    assert "://" not in json.dumps(json.loads(STORED.read_text()))
