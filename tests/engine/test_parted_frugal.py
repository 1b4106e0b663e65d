"""steelyard score --frugal --engine: the parts of a run are asked for what the run is asked for without parts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import steelyard as sy
from steelyard.engine.score import score_parts
from steelyard.engine.vote_parts import vote_parts
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.run import Run
from tests.engine.engines import Here
from tests.engine.in_process import engine
from tests.engine.test_parted_generate import table
from tests.running import Done, steelyard
from tests.runs.runs_parted import in_parts
from tests.runs.runs_small import small_run
from tests.sampling.jobs.on_demand import COLUMN, mixed_run, plan_for, verdicts_with_all_scores
from tests.sampling.jobs.test_score import p_true_words, questions_asked
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier

__all__ = ["engine"]
pytestmark = [
    pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning"),
    pytest.mark.usefixtures("key", "engine"),
]
ENGINE = ("--engine", "ray")


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path_factory.mktemp("verifier")) as server:
        yield server


@pytest.fixture
def server(verifier: FaultVerifier) -> FaultVerifier:
    """A verifier whose ledger is empty."""
    verifier.ledger.unlink(missing_ok=True)
    return verifier


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plan_for(tmp_path_factory.mktemp("plan") / "plan.json", expected=True)


def frugal(run: Path, server: FaultVerifier, plan: Path, *more: object) -> Done:
    return steelyard(*p_true_words(run, server, "--plan", plan, *more))


def runs(folder: Path, *, copies: bool = False) -> tuple[Path, Path]:
    """The same samples as one run, and as a run in parts."""
    plain = mixed_run(folder / "plain", copies=copies)
    with Run.open(plain, write=True) as opened:  # no answer in a whole part, a text that cannot be asked about
        silent = {"kind": "sample", "question": "q5", "finish": "stop", "tokens": 3, "logprob": -0.5, "model": "m"}
        opened.add_now([{**silent, "sample": 8, "response": " "}])
    return plain, in_parts(plain, folder / "run", 4)


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("rule", ["exact", "expected"])
def test_the_parts_of_a_run_are_asked_for_what_one_run_is_asked_for(
    tmp_path: Path, server: FaultVerifier, plan: Path, rule: str, copies: bool
) -> None:
    plain, run = runs(tmp_path, copies=copies)
    alone = frugal(plain, server, plan, "--frugal", rule)
    once = questions_asked(server)
    done = frugal(run, server, plan, "--frugal", rule, *ENGINE)
    assert done.code == 0, done.err
    assert questions_asked(server) == once + once
    ours, theirs = json.loads(done.out), json.loads(alone.out)
    assert {**ours, "run": "", "found": ""} == {**theirs, "run": "", "found": ""}
    assert ours["not_scored"] > 0
    assert_frame_equal(table(run), table(plain))
    vote_parts(run, tmp_path / "verdicts", Here(), plan=plan)
    whole = sy.vote(plain, plan).sort("question")
    assert sy.import_table(tmp_path / "verdicts").sort("question").equals(whole)
    again = frugal(run, server, plan, "--frugal", rule, *ENGINE)
    assert (json.loads(again.out)["new"], questions_asked(server)) == (0, once + once)


def test_exact_in_parts_gives_the_verdicts_of_all_scores(tmp_path: Path, server: FaultVerifier, plan: Path) -> None:
    _, run = runs(tmp_path)
    assert frugal(run, server, plan, "--frugal", "exact", *ENGINE).code == 0
    assert sy.vote(run, plan)["answer"].to_list() == verdicts_with_all_scores(run, plan)


def test_status_and_report_add_up_what_was_asked_and_saved(tmp_path: Path, server: FaultVerifier, plan: Path) -> None:
    plain, run = runs(tmp_path)
    for each, words in {plain: (), run: ENGINE}.items():
        assert frugal(each, server, plan, "--frugal", "exact", *words).code == 0
    ours, theirs = (sy.status(each, price_response=0.5) for each in (run, plain))
    timed = ("seconds", "seconds_saved")
    bills = [
        {name: value for name, value in each["bills"][COLUMN].items() if name not in timed} for each in (ours, theirs)
    ]
    assert bills[0] == bills[1]
    assert (bills[0]["finished"], ours["bills"][COLUMN]["seconds"] > 0) == (True, True)
    assert ours["verifiers"][COLUMN] == theirs["verifiers"][COLUMN]
    shown = steelyard("status", run, "--price-response", 0.5).out
    for said in ("not scored", "were read", "tokens of responses", "seconds of the verifier", "money: "):
        assert said in shown
    done = steelyard("report", run, "--score", COLUMN, "-o", tmp_path / "report.html", "--price-response", 0.5)
    assert done.code == 0, done.err
    page = (tmp_path / "report.html").read_text()
    assert "No score that was not requested could change a verdict of this plan." in page
    assert f"{bills[0]['read']:,} of" in page


@pytest.mark.long
def test_a_command_that_was_stopped_goes_on_and_the_status_says_that_it_is_not_finished(
    tmp_path: Path, server: FaultVerifier, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, run = runs(tmp_path)
    assert frugal(plain, server, plan, "--frugal", "exact").code == 0
    once = questions_asked(server)
    server.ledger.unlink()
    stopped = Here(most=2)
    monkeypatch.setattr("steelyard.engine.score.engine_of", lambda _: stopped)
    how: dict[str, Any] = {"at": f"{server.url}/v1", "model": "good", "plan": plan, "frugal": "exact"}
    with pytest.raises(KeyboardInterrupt):
        score_parts(run, "p-true", engine="ray", **how)
    bill = sy.status(run)["bills"][COLUMN]
    assert (bill["finished"], bill["read"] + bill["not_scored"]) == (False, 48)
    sy.read(run, score=COLUMN)
    begun = pl.read_parquet(run / "table.parquet")
    left = begun.filter(pl.col("question").is_in(_questions(run, 2)) & (pl.col("sample") < 8))
    assert not any(left[f"{COLUMN}:scored"]), "what was not begun was not asked, and is not missing"
    first = PartedRun.read(run).nonempty_parts[0].name
    lines = (run / first / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / first / "journal.jsonl").write_bytes(b"".join(lines[:-3]))  # killed in the last round
    for name in ("table.parquet", "table.json", f"{first}/table.parquet", f"{first}/table.json"):
        (run / name).unlink()
    kept = questions_asked(server).total()
    stopped.most = None
    assert score_parts(run, "p-true", engine="ray", **how).rule == "exact"
    assert_frame_equal(table(run), table(plain))
    assert set(questions_asked(server)) == set(once)
    assert kept < questions_asked(server).total() <= once.total() + 2
    assert sy.status(run)["bills"][COLUMN]["finished"]


def _questions(run: Path, after: int) -> list[str]:
    """The questions of the parts that a worker has not come to."""
    parted = PartedRun.read(run)
    return [question for part in parted.nonempty_parts[after:] for question in parted.questions(part)["question"]]


def test_another_rule_goes_on_from_the_scores_that_are_there_and_says_so_as_in_one_run(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    other = plan_for(tmp_path / "other.json", method="logit")
    plain, run = runs(tmp_path)
    for each, words in {plain: (), run: ENGINE}.items():
        assert frugal(each, server, plan, "--frugal", "expected", *words).code == 0
        done = frugal(each, server, other, "--frugal", "exact", *words)
        assert done.code == 0
        assert "was scored by the rule expected" in done.err
    assert done.err.count("\n") == 1, "told once for all parts"
    assert_frame_equal(table(run), table(plain))
    assert sy.vote(run, other)["answer"].to_list() == verdicts_with_all_scores(run, other)


def test_parts_without_a_readable_answer_are_asked_for_nothing_and_a_run_of_such_parts_is_refused(
    tmp_path: Path, server: FaultVerifier, plan: Path
) -> None:
    silent = small_run(tmp_path / "silent", questions=3, samples=2, response="I do not know.")
    done = frugal(in_parts(silent, tmp_path / "none", 2), server, plan, "--frugal", "exact", *ENGINE)
    assert (done.code, done.err.count("\n"), questions_asked(server).total()) == (2, 1, 0)
    assert "no response has a readable answer" in done.err
    run = small_run(tmp_path / "one", questions=6, samples=3, response="I do not know.")
    with Run.open(run, write=True) as opened:
        about = {"kind": "sample", "question": "q1", "finish": "stop", "tokens": 3, "model": "m"}
        opened.add_now([{**about, "sample": 3 + j, "response": f"It is {j % 2}."} for j in range(4)])
    parted = in_parts(run, tmp_path / "parts", 6)
    for each, words in {run: (), parted: ENGINE}.items():
        done = frugal(each, server, plan, "--frugal", "exact", *words)
        assert done.code == 0, done.err
    assert_frame_equal(table(parted), table(run))
    assert sy.status(parted)["bills"][COLUMN]["finished"]
