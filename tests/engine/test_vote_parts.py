"""A vote over parts is the vote over all rows, and goes on where it was stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.engine import table_jobs
from steelyard.engine.input_parts import InputPart
from steelyard.engine.read_answers import answers_of_parts
from steelyard.engine.table_jobs import TablePart, seal_part
from steelyard.engine.vote_parts import VERDICT, VotedParts, vote_parts
from steelyard.foundation.errors import RunError, SettingError, SteelyardWarning
from steelyard.runs.lock import RunLock
from steelyard.runs.seal import sealed
from steelyard.tables.partitioning import partition
from tests.engine.engines import Here
from tests.sampling.jobs.on_demand import plan_for


def odd_table() -> pl.DataFrame:
    """Ties, answers that are the same in other spellings, unreadable and missing ones, two scores with gaps."""
    table = sy.simulate(60, 8, seed=3)
    spelled = pl.when(pl.col("sample") == 1).then(pl.lit("1/2")).when(pl.col("sample") == 2).then(pl.lit("0.5"))
    return table.with_columns(
        answer=pl.when(pl.col("sample") == 5).then(None).otherwise(spelled.otherwise("answer")),
        other=pl.when(pl.col("sample") == 3).then(None).otherwise(1 - pl.col("score")),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parted") / "parts"
    partition(odd_table(), folder, 5)
    return folder


def verdicts(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("part-*.parquet"))])


@pytest.mark.parametrize("score", ["score", "score+other"])
def test_verdicts_over_parts_are_bit_for_bit_those_over_all_rows(folder: Path, tmp_path: Path, score: str) -> None:
    cal = sy.read_labelled(sy.simulate(200, 8, seed=9).with_columns(other=pl.col("score") / 2), score=score)
    sy.CalibratedVote(reserve=0.5).fit(cal, n=6).save(tmp_path / "plan.json")
    options: dict[str, Any] = {"risk": 0.4, "confidence_level": 0.7, "n": 6}
    found = vote_parts(folder, tmp_path / "out", Here(), plan=tmp_path / "plan.json", **options)
    whole = sy.vote(odd_table(), tmp_path / "plan.json", **options).sort("question")
    over_parts = verdicts(tmp_path / "out").sort("question")
    assert over_parts.equals(whole)
    assert found.answered == whole["answered"].sum() > 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["questions"], summary["responses"]) == (60, 480)
    assert sy.vote(folder, tmp_path / "plan.json", **options).sort("question").equals(whole)


def scored_on_demand(unread: pl.Expr) -> pl.DataFrame:
    """A table of which a verifier has read all but some responses."""
    table = sy.simulate(40, 8, seed=5).with_columns(pl.concat_list("score").alias("prm")).drop("score")
    return table.with_columns(pl.when(~unread).then("prm").alias("prm"), (~unread).alias("prm:scored"))


@pytest.mark.parametrize("questions", [["q03"], ["q03", "q17", "q21"], []])
@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_a_part_does_not_decide_for_itself_whether_the_verifier_was_asked_for_everything(
    tmp_path: Path, questions: list[str]
) -> None:
    plan = plan_for(tmp_path / "plan.json", "prm", expected=True)
    table = scored_on_demand(pl.col("question").is_in(questions) & (pl.col("sample") > 1))
    partition(table, tmp_path / "parts", 7)
    vote_parts(tmp_path / "parts", tmp_path / "out", Here(), plan=plan)
    whole = sy.vote(table, plan).sort("question")
    assert verdicts(tmp_path / "out").sort("question").equals(whole)
    assert whole.equals(sy.vote(table.drop("prm:scored"), plan).sort("question")) == (not questions)


def test_a_part_without_questions_has_a_table_without_verdicts(tmp_path: Path) -> None:
    partition(sy.simulate(2, 3, seed=0), tmp_path / "parts", 40)
    assert vote_parts(tmp_path / "parts", tmp_path / "out", Here()).questions == 2
    assert verdicts(tmp_path / "out").equals(sy.vote(tmp_path / "parts"))
    assert dict(sy.vote(tmp_path / "parts").schema) == VERDICT


def stopped(folder: Path, target: Path) -> Here:
    engine = Here(most=2)
    with pytest.raises(KeyboardInterrupt):
        vote_parts(folder, target, engine)
    return engine


def test_the_same_command_goes_on_with_what_is_not_sealed_and_then_does_nothing(folder: Path, tmp_path: Path) -> None:
    first, out = stopped(folder, tmp_path / "out"), tmp_path / "out"
    with pytest.raises(RunError, match="is not finished"):
        sy.read(out)
    torn = out / f"{first.asked[1]}.parquet"
    torn.write_bytes(torn.read_bytes()[:-1])
    assert not (out / "summary.json").exists()
    second, third = Here(), Here()
    found = vote_parts(folder, out, second)
    assert sorted(second.asked) == sorted({f"part-{i:05d}" for i in range(5)} - {first.asked[0]})
    assert verdicts(out).sort("question").equals(sy.vote(odd_table()).sort("question"))
    again: VotedParts = vote_parts(folder, out, third)
    assert third.asked == []
    assert again.summary() == found.summary()


def test_another_order_or_a_folder_of_something_else_is_refused(folder: Path, tmp_path: Path) -> None:
    stopped(folder, tmp_path / "out")
    with pytest.raises(SettingError, match=r"another command \(n was None, now 3\).*choose another folder$"):
        vote_parts(folder, tmp_path / "out", Here(), n=3)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(SettingError, match="it already exists"):
        vote_parts(folder, tmp_path / "mine", Here())


def test_a_part_that_fails_is_named_and_the_others_are_kept(folder: Path, tmp_path: Path) -> None:
    partition(odd_table(), tmp_path / "parts", 5)
    bad = tmp_path / "parts" / "part-00003.parquet"
    bad.write_bytes(b"x" * bad.stat().st_size)
    with pytest.raises(RunError, match=r"1 of 5 parts failed \(part-00003: .*\); the others are done and kept"):
        vote_parts(tmp_path / "parts", tmp_path / "out", Here())
    assert [i for i in range(5) if sealed(tmp_path / "out" / f"part-{i:05d}.parquet")] == [0, 1, 2, 4]


@pytest.mark.parametrize("method", ["consensus", None])
def test_what_learns_from_the_whole_table_is_not_learned_part_by_part(
    folder: Path, tmp_path: Path, method: str | None
) -> None:
    """Without a method it is the default for several sources."""
    with pytest.raises(SettingError, match=r"consensus learns from the whole table.*steelyard fit .* majority"):
        vote_parts(folder, tmp_path / "out", Here(), method=method, source="llm")


def test_a_plan_of_sources_votes_the_same_where_a_part_has_not_heard_all_of_them(tmp_path: Path) -> None:
    table = sy.simulate(40, 6, seed=2)
    llm = (
        pl.when(pl.col("sample") < 2)
        .then(pl.lit("a"))
        .when(pl.col("sample") < 4)
        .then(pl.lit("b"))
        .otherwise(pl.lit("c"))
    )
    rare = (pl.col("sample") < 4) | pl.col("question").is_in(["q03", "q17"])
    table = table.with_columns(llm=llm).filter(rare)
    sy.ConsensusVote().fit(sy.read(table, source="llm", score="none")).save(tmp_path / "plan.json")
    partition(table, tmp_path / "parts", 12)
    vote_parts(tmp_path / "parts", tmp_path / "out", Here(), plan=tmp_path / "plan.json")
    whole = sy.vote(table, tmp_path / "plan.json").sort("question")
    assert verdicts(tmp_path / "out").sort("question").equals(whole)


def test_a_warning_of_many_parts_is_told_once_and_that_of_all_rows_as_for_one_table(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.warns(SteelyardWarning) as told:
        vote_parts(folder, tmp_path / "out", Here(), n=9)
    texts = [str(each.message) for each in told]
    assert len([text for text in texts if "fewer" in text or "n = 9" in text]) == 1
    with pytest.warns(SteelyardWarning) as alone:
        sy.vote(folder, n=9)
    assert {str(each.message) for each in alone} == set(texts)


def test_verdicts_of_a_folder_that_was_made_anew_are_not_taken_for_those_of_its_rows(tmp_path: Path) -> None:
    for answers in (["1", "1", "2"], ["1", "2", "2"]):
        shutil.rmtree(tmp_path / "parts", ignore_errors=True)
        partition(pl.DataFrame({"question": ["a"] * 3, "answer": answers}), tmp_path / "parts", 1)
        if answers[1] == "1":
            vote_parts(tmp_path / "parts", tmp_path / "out", Here())
    with pytest.raises(SettingError, match=r"another command \(the files that are read, .* have changed\)"):
        vote_parts(tmp_path / "parts", tmp_path / "out", Here())


def test_a_part_that_was_changed_in_its_place_is_refused_also_where_it_has_as_many_bytes(tmp_path: Path) -> None:
    for folder, answers in {"parts": ["1", "1", "2"], "other": ["1", "2", "2"]}.items():
        partition(pl.DataFrame({"question": ["a"] * 3, "answer": answers}), tmp_path / folder, 1)
    part = tmp_path / "parts" / "part-00000.parquet"
    size = part.stat().st_size
    shutil.copy(tmp_path / "other" / part.name, part)
    assert part.stat().st_size == size
    for work in (vote_parts, answers_of_parts):
        with pytest.raises(RunError, match=r"part-00000.parquet was changed after it was made: restore it"):
            work(tmp_path / "parts", tmp_path / work.__name__, Here())


class Late(Here):
    """When all is done, a worker of another order that was taken for dead writes its part."""

    def __init__(self, target: Path, order: str) -> None:
        super().__init__()
        self.target, self.order = target, order

    def run(self, *given: Any, **options: Any) -> Generator[Any]:
        yield from super().run(*given, **options)
        late = TablePart(InputPart("part-00001", "", 0, ""), str(self.target / "part-00001.parquet"), self.order)
        seal_part(late, pl.DataFrame({"question": ["other"]}), {})


def test_a_part_that_a_late_worker_of_another_command_wrote_over_is_not_counted(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(RunError, match=r"part-00001.parquet was lost, or written by another command, meanwhile"):
        vote_parts(folder, out, Late(out, "another"))
    engine = Here()
    assert vote_parts(folder, out, engine).questions == 60
    assert engine.asked == ["part-00001"]


def test_a_command_that_waited_for_another_does_not_go_on_in_its_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    lock = RunLock

    def after_another(target: Path) -> RunLock:
        monkeypatch.setattr(table_jobs, "RunLock", lock)
        vote_parts(folder, out, Here(), n=2)
        return lock(target)

    monkeypatch.setattr(table_jobs, "RunLock", after_another)
    with pytest.raises(SettingError, match=r"another command \(n was 2, now None\)"):
        vote_parts(folder, out, Here())


def test_what_a_command_left_behind_that_was_killed_in_its_first_moment_does_no_harm(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / ".parts.json.1234.abc.json").write_text("{")
    assert vote_parts(folder, out, Here()).questions == 60


def test_what_would_put_a_question_into_several_parts_is_refused(tmp_path: Path) -> None:
    table = pl.DataFrame({"question": [f"q{i}" for i in range(6)], "group": ["a", "b"] * 3, "answer": ["1"] * 6})
    partition(table, tmp_path / "parts", 4)
    options: list[dict[str, Any]] = [{"rename": {"group": "question"}}, {"rename": {"question": "id"}}]
    for given in [*options, {"layout": "wide"}]:
        for work in (vote_parts, answers_of_parts):
            with pytest.raises(SettingError, match=r"cut its rows again with 'steelyard partition .*/parts -o FOLDER'"):
                work(tmp_path / "parts", tmp_path / "out", Here(), **given)
    assert not (tmp_path / "out").exists()


def test_one_reason_of_many_parts_is_told_once(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"^5 of 5 parts failed \(part-00000 and 4 more: no score column 'x': there are"):
        vote_parts(folder, tmp_path / "out", Here(), method="vanilla", score="x")
