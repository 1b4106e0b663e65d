"""What is written for a user, and what is never written over: one rule for every verb and every function."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard

WRITERS: dict[str, tuple[str, Callable[[str], list[object]]]] = {
    "vote": ("v.parquet", lambda out: ["vote", "in.parquet", "-o", out]),
    "vote csv": ("v.csv", lambda out: ["vote", "in.parquet", "-o", out]),
    "vote jsonl": ("v.jsonl", lambda out: ["vote", "in.parquet", "-o", out]),
    "vote arrow": ("v.arrow", lambda out: ["vote", "in.parquet", "-o", out]),
    "answers": ("a.parquet", lambda out: ["answers", "in.parquet", "-o", out]),
    "answers csv": ("a.csv", lambda out: ["answers", "in.parquet", "-o", out]),
    "simulate": ("s.parquet", lambda out: ["simulate", "--questions", 3, "-n", 2, "-o", out]),
    "simulate csv": ("s.csv", lambda out: ["simulate", "--questions", 3, "-n", 2, "-o", out]),
    "fit": ("p.json", lambda out: ["fit", "in.parquet", "--method", "logit", "-o", out]),
    "report": ("r.html", lambda out: ["report", "in.parquet", "--method", "logit", "-o", out]),
}
BUDGET = ["plan-budget", "in.parquet", "--budget", 3, "--method", "vanilla"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a labelled table that another program wrote."""
    monkeypatch.chdir(tmp_path)
    sy.simulate(60, 4, seed=1).write_parquet("in.parquet")
    return tmp_path


@pytest.mark.parametrize("verb", WRITERS)
def test_a_file_of_the_user_is_refused_a_file_of_ours_replaced_and_any_with_overwrite(here: Path, verb: str) -> None:
    name, words = WRITERS[verb]
    (here / name).write_text("dear to me, 1")
    refused = steelyard(*words(name))
    assert refused.code == 2
    assert f"cannot write {name}: the existing file is not a" in refused.err
    assert "--overwrite" in refused.err
    assert (here / name).read_text() == "dear to me, 1"
    assert steelyard(*words(name), "--overwrite").code == 0
    done = (here / name).read_bytes()
    again = steelyard(*words(name))
    assert again.code == 0, again.err
    assert (here / name).stat().st_size == pytest.approx(len(done), rel=0.01)


@pytest.mark.parametrize("verb", WRITERS)
def test_a_new_path_and_an_empty_file_are_written(here: Path, verb: str) -> None:
    name, words = WRITERS[verb]
    (here / name).touch()
    assert steelyard(*words(name)).code == 0
    assert (here / name).stat().st_size


@pytest.mark.parametrize("way", ["same", "relative", "link", "hard link", "overwrite"])
def test_an_input_is_never_written_over_by_whatever_name_it_is_called(here: Path, way: str) -> None:
    before = (here / "in.parquet").read_bytes()
    (here / "sub").mkdir()
    (here / "link.parquet").symlink_to("in.parquet")
    os.link("in.parquet", "hard.parquet")
    out = {"relative": "sub/../in.parquet", "link": "link.parquet", "hard link": "hard.parquet"}.get(way, "in.parquet")
    for verb in ("vote", "answers"):
        done = steelyard(verb, "in.parquet", "-o", out, "--overwrite")
        assert done.code == 2
        assert (
            f"cannot write {out}: it is an input of this command (in.parquet), and inputs are never overwritten"
            in done.err
        )
    assert (here / "in.parquet").read_bytes() == before
    assert not (here / "link.parquet").is_symlink() or (here / "link.parquet").read_bytes() == before


def test_a_plan_that_is_read_is_not_written_over(here: Path) -> None:
    assert steelyard("fit", "in.parquet", "--method", "logit", "-o", "plan.json").code == 0
    done = steelyard("plan-budget", "in.parquet", "--budget", 3, "--plan", "plan.json", "-o", "plan.json")
    assert done.code == 2
    assert "it is an input of this command (plan.json)" in done.err
    assert steelyard(*BUDGET, "-o", "plan.json").code == 0, "but another plan is"


@pytest.mark.parametrize(
    ("words", "suffixes"),
    [
        (["fit", "in.parquet", "--method", "logit", "-o", "plan.parquet"], ".json"),
        ([*BUDGET, "-o", "plan.csv"], ".json"),
        (["report", "in.parquet", "-o", "x.csv"], ".html, .htm"),
        (["vote", "in.parquet", "-o", "x.json"], ".parquet, .jsonl, .ndjson, .csv, .arrow"),
    ],
)
def test_suffix_and_content_must_agree(here: Path, words: list[object], suffixes: str) -> None:
    done = steelyard(*words, "--overwrite")
    assert done.code == 2
    assert f"its suffix must be one of {suffixes}; choose another path with -o" in done.err
    assert not (here / str(words[-1])).exists()


def test_a_refusal_comes_before_any_work(here: Path) -> None:
    """The input does not even exist: what is wrong with the output is said first."""
    (here / "v.csv").write_text("mine")
    for words in (["vote", "missing.parquet", "-o", "v.csv"], ["answers", "missing.parquet", "-o", "v.csv"]):
        assert "the existing file is not a table" in steelyard(*words).err
    (here / "p.json").write_text("{}")
    assert "is not a plan that Steelyard wrote" in steelyard("fit", "missing.parquet", "-o", "p.json").err


def test_one_kind_of_ours_does_not_replace_another(here: Path) -> None:
    assert steelyard("vote", "in.parquet", "-o", "out.parquet").code == 0
    done = steelyard("simulate", "--questions", 3, "-o", "out.parquet")
    assert done.code == 2
    assert "is not a table of simulated responses that Steelyard wrote" in done.err
    assert pl.read_parquet_metadata("out.parquet")["steelyard"] == "verdicts"


def test_a_file_in_a_folder_that_is_read_is_an_input(here: Path) -> None:
    (here / "run").mkdir()
    (here / "run" / "manifest.json").write_text("{}")
    (here / "run" / "table.parquet").write_bytes((here / "in.parquet").read_bytes())
    done = steelyard("vote", "run", "-o", "run/table.parquet", "--overwrite")
    assert done.code == 2
    assert "it is an input of this command (run)" in done.err


def test_functions_keep_the_same_rule(here: Path) -> None:
    table = sy.simulate(60, 4)
    for name in ("t.parquet", "t.csv", "t.jsonl", "t.arrow"):
        (here / name).write_text("mine")
        with pytest.raises(sy.SettingError, match="replace it with overwrite=True"):
            sy.write(table, name)
        sy.write(table, name, overwrite=True)
        sy.write(table.head(10), name)
        assert sy.read(name).n_responses == 10
    sy.write(table.with_columns(other=0.5), "t.parquet")
    with pytest.raises(sy.SettingError, match="is not a table that Steelyard wrote"):
        sy.write(table.with_columns(other=0.5), "t.csv")
    vote = sy.LogitVote().fit(sy.read_labelled(table))
    (here / "plan.json").write_text('{"mine": 1}')
    with pytest.raises(sy.SettingError, match="is not a plan that Steelyard wrote"):
        vote.save("plan.json")
    vote.save("plan.json", overwrite=True)
    vote.save("plan.json")
    with pytest.raises(sy.SettingError, match=r"suffix must be one of \.json"):
        vote.save("plan.parquet")
    (here / "page.html").write_text("<html>mine</html>")
    with pytest.raises(sy.SettingError, match="is not a report that Steelyard wrote"):
        sy.report("in.parquet", "page.html")


@pytest.mark.long
def test_results_of_reproduce_go_where_nothing_else_is(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "grid.csv").write_text("mine")
    with pytest.raises(sy.SettingError, match=r"out/grid\.csv: the existing file is not a result of"):
        sy.paper.reproduce("grid", quick=True, output="out", cached=False)
    sy.paper.reproduce("grid", quick=True, output="out", cached=False, overwrite=True)
    sy.paper.reproduce("grid", quick=True, output="out", cached=False)


def test_the_demo_refuses_before_it_begins(here: Path) -> None:
    (here / "demo").mkdir()
    (here / "demo" / "report.html").write_text("mine")
    done = steelyard("demo")
    assert (done.code, done.out) == (2, "")
    assert "demo/report.html: the existing file is not a report" in done.err


def test_a_run_does_not_replace_the_questions_it_is_made_from(here: Path) -> None:
    """A folder with nothing but questions.parquet in it may be one that a killed start left behind, or the user's."""
    (here / "set").mkdir()
    pl.DataFrame({"question": ["a"], "prompt": ["1 + 1?"]}).write_parquet("set/questions.parquet")
    before = (here / "set" / "questions.parquet").read_bytes()
    words = ("generate", "set/questions.parquet", "--upstream", "http://127.0.0.1:9/v1", "--model", "m", "-o", "set")
    done = steelyard(*words)
    assert done.code == 2
    assert "set contains other files (questions.parquet, ..): choose another folder with -o" in done.err
    assert (here / "set" / "questions.parquet").read_bytes() == before
