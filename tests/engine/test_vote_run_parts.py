"""A vote over the parts of a run is the vote over the run, whatever its parts hold and lack."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import steelyard as sy
from steelyard.engine.read_answers import answers_of_parts
from steelyard.engine.vote_parts import vote_parts
from steelyard.foundation.errors import RunError, ScoreError, SettingError, SteelyardError, SteelyardWarning
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import MAX_SOURCES
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.run import Run
from tests.engine.engines import Here
from tests.running import steelyard
from tests.runs.runs_parted import in_parts

PARTS = 20  # some of them without questions
JUDGED = ("q2", "q5", "q6")  # the only questions that the second verifier has read


def odd_run(folder: Path, *, sources: bool = False) -> Path:
    """Two verifiers of which one has read little, failed samples, and questions without a usable response."""
    ids = [f"q{i}" for i in range(14)]
    table = pl.DataFrame({"question": ids, "prompt": ["?"] * 14, "gold": [str(i % 3) for i in range(14)]})
    records: list[dict[str, Any]] = []
    for i, name in enumerate(ids):
        for j in range(6):
            about = {"question": name, "sample": j // 2 * MAX_SOURCES + j % 2 if sources else j}
            if name == "q3" or (i + j) % 11 == 0:
                records.append({"kind": "failure", **about, "reason": "timed out"})
                continue
            said = "I do not know." if name == "q7" else f"It is \\boxed{{{(i + j * j) % 3}{'.0' * (j % 2)}}}."
            logprob = {"logprob": -0.1 * (j + 1)} if name in JUDGED else {}
            records.append({"kind": "sample", **about, "response": said, "tokens": 9, "finish": "stop"} | logprob)
            if (i * j) % 5 != 1:
                steps = [0.1 + 0.05 * j, (0.07 * i + 0.11 * j) % 1]
                records.append({"kind": "score", "verifier": "prm", **about, "steps": steps, "split": "newlines"})
            if name in JUDGED:
                records.append({"kind": "score", "verifier": "judge", **about, "steps": [0.9 - 0.1 * j], "split": "ki"})
    named = {"a": {"upstream": "http://a/v1", "model": "a"}, "b": {"upstream": "http://b/v1", "model": "b"}}
    manifest = Manifest("0" * 64, "" if sources else "m", 3 if sources else 6, sources=named if sources else {})
    with Run.start(folder, manifest, table) as run:
        run.add_now(records)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odd_run(tmp_path_factory.mktemp("plain") / "plain")


@pytest.fixture(scope="module")
def cut(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_parts(plain, tmp_path_factory.mktemp("cut") / "run", PARTS)


@pytest.fixture
def run(cut: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(cut, tmp_path / "run"))


def verdicts(folder: Path) -> pl.DataFrame:
    return sy.import_table(folder).sort("question")


@pytest.fixture(scope="module")
def fitted() -> sy.CalibratedVote:
    world = sy.simulate(200, 6, seed=9).rename({"score": "prm"}).with_columns(pl.concat_list("prm").alias("prm"))
    return sy.CalibratedVote(reserve=0.5).fit(sy.read_labelled(world))


@pytest.fixture
def plan(fitted: sy.CalibratedVote, tmp_path: Path) -> Path:
    fitted.save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


CHOICES: list[dict[str, Any]] = [
    {},
    {"method": "vanilla", "score": "prm", "n": 4},
    {"method": "vanilla", "score": "judge:min"},
    {"method": "best-of-n", "score": "self_logprob"},
    {"method": "consensus-plan", "source": "llm"},
    {"risk": 0.4, "confidence_level": 0.7},
]


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("options", CHOICES)
def test_verdicts_over_the_parts_of_a_run_are_bit_for_bit_those_of_the_run(
    plain: Path, run: Path, plan: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    options = dict(options)
    if options.get("method") == "consensus-plan":
        del options["method"]
        sy.ConsensusVote().fit(sy.read(plain, source="llm", score="none")).save(plan)
        options["plan"] = plan
    elif "risk" in options:
        options["plan"] = plan
    found = vote_parts(run, tmp_path / "out", Here(), **options)
    whole = sy.vote(run, **options)
    assert whole.equals(sy.vote(plain, **options))
    assert verdicts(tmp_path / "out").equals(whole.sort("question"))
    assert (found.questions, found.responses, found.without_answer) == (14, 84, 2)


def test_the_table_of_all_rows_is_not_made(run: Path, tmp_path: Path) -> None:
    vote_parts(run, tmp_path / "out", Here())
    assert not (run / "table.parquet").exists()


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.long
def test_a_run_of_several_upstreams_is_read_with_its_sources(tmp_path: Path) -> None:
    plain = odd_run(tmp_path / "plain", sources=True)
    run = in_parts(plain, tmp_path / "run", PARTS)
    sy.ConsensusVote().fit(sy.read(plain, score="none")).save(tmp_path / "plan.json")
    vote_parts(run, tmp_path / "out", Here(), plan=tmp_path / "plan.json")
    assert verdicts(tmp_path / "out").equals(sy.vote(plain, tmp_path / "plan.json").sort("question"))


def test_scores_to_choose_from_are_those_of_all_parts(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ScoreError, match="several columns could be the score") as alone:
        sy.vote(run, method="vanilla")
    with pytest.raises(RunError) as parts:
        vote_parts(run, tmp_path / "out", Here(), method="vanilla")
    assert str(alone.value).partition(": ")[2] in str(parts.value)
    assert f"{PARTS} of {PARTS} parts failed" not in str(parts.value), "a part without rows has nothing to choose"


def unfinished(run: Path) -> Path:
    part = sorted(run.glob("part-*"))[0]
    return part.rename(part.with_name(f"{part.name}.working"))


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_parts_that_are_not_finished_are_left_out_with_the_warning_of_one_process(run: Path, tmp_path: Path) -> None:
    wanted = len(PartedRun.read(run).nonempty_parts)
    part = unfinished(run)
    said = f"1 of {wanted} parts are not finished, and their questions are left out"
    with pytest.warns(SteelyardWarning, match=said) as one:
        whole = sy.vote(run)
    with pytest.warns(SteelyardWarning, match=said) as two:
        vote_parts(run, tmp_path / "out", Here())
    assert {str(each.message) for each in one} == {str(each.message) for each in two}
    assert verdicts(tmp_path / "out").equals(whole.sort("question"))
    part.rename(run / part.stem)
    with pytest.raises(SettingError, match="another command"):
        vote_parts(run, tmp_path / "out", Here())
    for each in run.glob("part-*"):
        each.rename(each.with_name(f"{each.name}.working"))
    for vote in (lambda: sy.vote(run), lambda: vote_parts(run, tmp_path / "none", Here())):
        with pytest.raises(RunError, match="contains less than"):
            vote()
    for left in ("table.parquet", "table.json"):
        (run / left).unlink()
    for vote in (lambda: sy.vote(run), lambda: vote_parts(run, tmp_path / "none", Here())):
        with pytest.raises(SteelyardError, match="has no finished part yet"):
            vote()
    assert not (tmp_path / "none").exists()


def test_a_damaged_table_of_a_part_is_derived_anew_and_an_old_one_too(run: Path, plain: Path, tmp_path: Path) -> None:
    whole = sy.vote(plain).sort("question")
    rows, names, gone, *_ = sorted(run.glob("part-*/table.parquet"))
    for path, places in {rows: range(10, 20), names: range(-200, -100)}.items():
        there = bytearray(path.read_bytes())
        for place in places:
            there[place] ^= 1
        path.write_bytes(there)
    gone.unlink()
    engine = Here()
    vote_parts(run, tmp_path / "out", engine)
    assert verdicts(tmp_path / "out").equals(whole)
    assert engine.asked[:2] == [names.parent.name, gone.parent.name], "workers made these first"
    assert len(engine.asked) == 2 + PARTS


def test_a_damaged_journal_is_refused_by_name_as_in_one_process(run: Path, tmp_path: Path) -> None:
    part = sorted(run.glob("part-*"))[2]
    lines = (part / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (part / "journal.jsonl").write_bytes(b"".join(lines[:-3]))
    with pytest.raises(RunError, match="contains less than"):
        sy.vote(run)
    with pytest.raises(RunError, match=rf"{part.name}: .*contains less than .*fix these, and run the same"):
        vote_parts(run, tmp_path / "out", Here())
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_a_run_that_lost_rows_since_its_table_was_made_is_refused_as_in_one_process(run: Path, tmp_path: Path) -> None:
    sy.vote(run)
    unfinished(run)
    for vote in (lambda: sy.vote(run), lambda: vote_parts(run, tmp_path / "out", Here())):
        with pytest.raises(RunError, match=r"contains less than table.parquet was made from"):
            vote()


def test_the_same_command_goes_on_and_scores_that_came_since_are_another_order(run: Path, tmp_path: Path) -> None:
    stopped, out = Here(most=3), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        vote_parts(run, out, stopped, method="vanilla", score="judge")
    engine = Here()
    vote_parts(run, out, engine, method="vanilla", score="judge")
    assert sorted([*stopped.asked, *engine.asked]) == [f"part-{i:05d}" for i in range(PARTS)]
    part = PartedRun.read(run).finished()[0]
    with Run.open(run / part.name, write=True) as opened:
        question = opened.questions["question"][0]
        opened.add_now([{"kind": "score", "verifier": "judge", "question": question, "sample": 1, "steps": [0.5]}])
    with pytest.raises(SettingError, match="another command"):
        vote_parts(run, out, Here(), method="vanilla", score="judge")


def test_a_part_that_is_written_to_meanwhile_fails_by_name(run: Path, tmp_path: Path) -> None:
    class Busy(Here):
        """Somebody scores while the workers read."""

        def run(self, task: Any, order: Any, parts: Any, **options: Any) -> Any:
            with Run.open(next(Path(part.path) for part in parts if part.path), write=True) as opened:
                opened.add_now([{"kind": "note", "about": "score", "column": "prm"}])
            yield from super().run(task, order, parts, **options)

    with pytest.raises(RunError, match=r"1 of 20 parts failed \(.*run/part-\d+ was written to since this command"):
        vote_parts(run, tmp_path / "out", Busy())


def test_answers_over_the_parts_of_a_run_are_those_of_the_run(plain: Path, run: Path, tmp_path: Path) -> None:
    for kind in ("math", "auto"):
        found = answers_of_parts(run, tmp_path / kind, Here(), answers=kind)
        whole = sy.read_answers(plain, answers=kind)
        order = ["question", "sample"]
        assert_frame_equal(sy.import_table(tmp_path / kind).sort(order), sy.import_table(whole.table).sort(order))
        assert (found.responses, found.unreadable) == (84, whole.unreadable)


def test_the_commands_take_a_run_in_parts(run: Path, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.engine.engines.engine_of", lambda _: Here())
    done = steelyard("answers", run, "--engine", "ray", "-o", run.with_name("answers"), "--json")
    assert (done.code, json.loads(done.out)["responses"]) == (0, 84)
    words = ("--method", "majority", "--json", "-n", "2,4", "--score", "prm")
    alone, parted = steelyard("evaluate", plain, *words), steelyard("evaluate", run, *words, "--engine", "ray")
    assert parted.code == 0, parted.err
    assert json.loads(parted.out) == json.loads(alone.out)


@pytest.mark.long
def test_a_run_in_parts_is_read_by_other_processes(plain: Path, tmp_path: Path) -> None:
    run = in_parts(plain, tmp_path / "run", 2)
    done = steelyard("vote", run, "--engine", "processes:1", "-o", tmp_path / "verdicts", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["questions"] == 14
    assert verdicts(tmp_path / "verdicts").equals(sy.vote(plain).sort("question"))
