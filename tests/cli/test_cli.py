"""The verbs, as a user types them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.cli.verbs import VERBS
from tests.building import labelled, without_sources
from tests.memory import measured
from tests.running import make_plan, steelyard, without_progress
from tests.waiting import PATIENCE, until


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "responses.parquet"
    sy.write(sy.simulate(120, 8, seed=3).rename({"score": "prm"}), path)
    return path


def test_simulate_writes_what_the_library_makes(tmp_path: Path) -> None:
    done = steelyard("simulate", "-o", tmp_path / "t.parquet", "--questions", 30, "-n", 4, "--seed", 7, "--gap", 2)
    assert done.code == 0, done.err
    made = sy.simulate(30, 4, seed=7, world=sy.testing.World(gap=2))
    assert pl.read_parquet(tmp_path / "t.parquet").equals(made)


def test_simulate_and_the_library_have_the_same_defaults(tmp_path: Path) -> None:
    steelyard("simulate", "-o", tmp_path / "t.parquet")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(sy.simulate())


def test_three_commands_from_a_file_to_plan_verdicts_and_accuracy(file: Path, tmp_path: Path) -> None:
    plan, verdicts = tmp_path / "plan.json", tmp_path / "verdicts.parquet"
    evaluated = steelyard("evaluate", file, "--method", "majority,logit", "--resamples", 3)
    fitted = steelyard("fit", file, "--score", "prm", "-o", plan)
    voted = steelyard("vote", file, "--plan", plan, "-o", verdicts)
    assert (evaluated.code, fitted.code, voted.code) == (0, 0, 0), evaluated.err + fitted.err + voted.err
    assert "84 test questions, calibrated on 36 others" in evaluated.out
    assert "Plan written to" in fitted.out
    assert "What a score is worth" in fitted.out
    assert "On questions it was not fitted on" in fitted.out
    expected = sy.CalibratedVote().fit(labelled(file)).predict(sy.read(file)).to_polars()
    assert pl.read_parquet(verdicts).equals(expected)


def test_evaluate_json_is_the_documented_object(file: Path) -> None:
    done = steelyard("evaluate", file, "--method", "majority,logit", "-n", "2,8", "--resamples", 0, "--json")
    found = json.loads(done.out)
    assert (found["calibration_questions"], found["test_questions"], found["seed"]) == (36, 84, 0)
    assert [(row["method"], row["n"]) for row in found["rows"]] == [
        ("majority", 2),
        ("logit", 2),
        ("majority", 8),
        ("logit", 8),
    ]
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in found["rows"])
    cal, test = labelled(file).split(0.3, seed=0)
    assert found["rows"][3]["accuracy"] == sy.accuracy(sy.LogitVote().fit(cal).predict(test), test)


def test_evaluate_runs_every_method_and_the_powers_of_two_by_default(file: Path) -> None:
    rows = json.loads(steelyard("evaluate", file, "--resamples", 1, "--json").out)["rows"]
    assert {row["method"] for row in rows} == set(without_sources())
    assert {row["n"] for row in rows} == {1, 2, 4, 8}


def test_the_control_with_shuffled_scores_shows_the_leak_of_the_printed_optimum(tmp_path: Path) -> None:
    steelyard("simulate", "-o", tmp_path / "t.parquet", "--questions", 400)
    command = ("evaluate", tmp_path / "t.parquet", "--shuffle-scores", "-n", 32, "--json")
    rows = json.loads(steelyard(*command, "--method", "majority,optimal,optimal-crossfit").out)["rows"]
    gain = {row["method"]: row["gain"] for row in rows}
    assert gain["optimal"] > 0.08
    assert gain["optimal-crossfit"] < 0.04


def test_fit_json_and_settings(file: Path, tmp_path: Path) -> None:
    done = steelyard("fit", file, "--method", "linear", "--set", "rule=grid", "--set", "points=11", "-n", 4, "--json")
    found = json.loads(done.out)
    assert found["b"] == sy.paper.LinearVote(rule="grid", points=11).fit(labelled(file), n=4).b
    assert (found["n"], found["questions"], found["score"]) == (4, 120, "prm")


def test_fit_on_a_share_takes_the_split_of_evaluate(file: Path) -> None:
    found = json.loads(steelyard("fit", file, "--method", "logit", "--calibrate", 0.5, "--seed", 4, "--json").out)
    assert found["b"] == sy.LogitVote(seed=4).fit(labelled(file).split(0.5, seed=4)[0]).b
    assert found["questions"] == 60


def test_fit_with_an_infinite_offset_is_valid_json(tmp_path: Path) -> None:
    sy.write(sy.simulate(80, 8, seed=3, world=sy.testing.World(gap=-6.0, easy_share=1.0)), tmp_path / "t.parquet")
    done = steelyard("fit", tmp_path / "t.parquet", "--method", "linear", "--set", "rule=exact", "--json")
    assert json.loads(done.out)["b"] == "-inf"


def test_vote_without_output_prints_verdicts_as_json(file: Path, tmp_path: Path) -> None:
    steelyard("fit", file, "--method", "majority", "-o", tmp_path / "plan.json")
    found = json.loads(steelyard("vote", file, "--plan", tmp_path / "plan.json", "--json").out)
    assert (found["method"], found["questions"], len(found["verdicts"])) == ("majority", 120, 120)


def test_methods_without_scores_need_no_score_column(file: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.parquet"
    sy.write(pl.read_parquet(file).drop("prm"), bare)
    fitted = steelyard("fit", bare, "--method", "majority", "-o", tmp_path / "plan.json")
    voted = steelyard("vote", bare, "--plan", tmp_path / "plan.json")
    evaluated = steelyard("evaluate", bare, "--method", "majority,pass-at-n", "--resamples", 0)
    assert (fitted.code, voted.code, evaluated.code) == (0, 0, 0), fitted.err + voted.err + evaluated.err


def test_evaluate_without_scores_measures_what_needs_none_and_says_so(file: Path, tmp_path: Path) -> None:
    sy.write(pl.read_parquet(file).drop("prm"), tmp_path / "t.parquet")
    refused = steelyard("evaluate", tmp_path / "t.parquet")
    assert "--score none reads without" in refused.err
    done = steelyard("evaluate", tmp_path / "t.parquet", "--score", "none", "--resamples", 2, "--json")
    assert done.code == 0, done.err
    assert {row["method"] for row in json.loads(done.out)["rows"]} == {"majority", "pass-at-n"}
    assert "note: without scores, only majority, pass-at-n" in done.err


def test_a_majority_plan_breaks_ties_by_the_score_it_was_fitted_with(tmp_path: Path) -> None:
    table = sy.simulate(100, 2, seed=1).with_columns(a=pl.col("score"), b=1 - pl.col("score")).drop("score")
    sy.write(table, tmp_path / "t.parquet")
    steelyard("fit", tmp_path / "t.parquet", "--method", "majority", "--score", "a", "-o", tmp_path / "plan.json")
    steelyard("vote", tmp_path / "t.parquet", "--plan", tmp_path / "plan.json", "-o", tmp_path / "v.parquet")
    expected = sy.MajorityVote().predict(sy.read(table, score="a")).to_polars()
    assert pl.read_parquet(tmp_path / "v.parquet").equals(expected)
    assert not expected.equals(sy.MajorityVote().predict(sy.read(table, score="b")).to_polars())
    bare = tmp_path / "bare.parquet"
    sy.write(table.drop("a", "b"), bare)
    assert steelyard("vote", bare, "--plan", tmp_path / "plan.json").code == 0


def test_vote_needs_no_labels_and_reads_none(file: Path, tmp_path: Path) -> None:
    make_plan(file, "-o", tmp_path / "plan.json")
    broken = pl.read_parquet(file).with_columns(correct=pl.lit("who knows"))
    sy.write(broken, tmp_path / "broken.parquet")
    done = steelyard("vote", tmp_path / "broken.parquet", "--plan", tmp_path / "plan.json")
    assert done.code == 0, done.err


def test_vote_warns_when_n_is_not_the_n_of_the_plan(file: Path, tmp_path: Path) -> None:
    make_plan(file, "-n", 4, "-o", tmp_path / "plan.json")
    assert "fitted at 4 samples per question" in steelyard("vote", file, "--plan", tmp_path / "plan.json").err
    assert steelyard("vote", file, "--plan", tmp_path / "plan.json", "-n", 4).err == ""


def test_a_null_verdict_is_told(tmp_path: Path) -> None:
    table = pl.DataFrame({"question": ["a", "b", "b"], "answer": [None, "1", "1"], "score": [0.5, 0.5, 0.5]})
    sy.write(table, tmp_path / "t.jsonl")
    sy.VanillaVote().save(tmp_path / "plan.json")
    assert (
        "1 questions have no readable answer"
        in steelyard("vote", tmp_path / "t.jsonl", "--plan", tmp_path / "plan.json").out
    )


def test_a_few_calibration_questions_are_warned_about_in_one_line(tmp_path: Path) -> None:
    sy.write(sy.simulate(20, 8), tmp_path / "t.parquet")
    done = steelyard("fit", tmp_path / "t.parquet")
    assert done.code == 0
    assert done.err.startswith("warning: 20 calibration questions are few")
    assert done.err.count("\n") == 1


def test_columns_can_be_renamed_on_the_way_in(file: Path, tmp_path: Path) -> None:
    sy.write(pl.read_parquet(file).rename({"question": "id"}), tmp_path / "t.parquet")
    done = make_plan(tmp_path / "t.parquet", "--rename", "id=question", "--json")
    assert json.loads(done.out)["questions"] == 120


@pytest.mark.long
def test_the_demo_tells_the_whole_story(tmp_path: Path) -> None:
    done = steelyard("demo", "-o", tmp_path / "demo")
    assert done.code == 0, done.err
    for word in ("$ steelyard evaluate grid:", "gain on majority", "What a score is worth", "docs/grid.md"):
        assert word in done.out
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {"plan.json", "verdicts.parquet", "report.html"}
    assert done.out.rstrip().endswith(str(tmp_path / "demo" / "report.html"))


def test_plain_tables_align(file: Path) -> None:
    lines = steelyard("evaluate", file, "--method", "majority,logit", "--resamples", 0).out.splitlines()
    assert len({len(line) for line in lines[1:4] if line.strip()}) <= 2
    assert not any(char in "".join(lines) for char in "│─\x1b")


def test_help_of_every_verb_has_an_example() -> None:
    for verb in VERBS:
        assert f"steelyard {verb}" in steelyard(verb, "--help").out.replace("\n", " ")
    assert steelyard().out == steelyard("--help").out
    assert steelyard("--version").out == f"steelyard {sy.__version__}\n"


def _in_terminal(*words: object) -> str:
    """Run a command on a pseudo-terminal and return what it shows."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "steelyard", *map(str, words)]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdout=child, stderr=child, env=environment)
    os.close(child)
    shown = b""
    try:
        while chunk := os.read(parent, 65536):
            shown += chunk
    except OSError:  # the other end was closed
        pass
    assert process.wait() == 0
    return shown.decode()


def test_on_a_terminal_there_are_colours_and_progress(file: Path) -> None:
    shown = _in_terminal("evaluate", file, "--method", "majority,logit", "--resamples", 2)
    assert "\x1b[1;32m" in shown
    assert "Evaluating" in shown
    assert "100 %" in shown


def test_text_that_looks_like_markup_is_shown_as_it_is(tmp_path: Path) -> None:
    table = pl.DataFrame({"question": ["[bold]q"] * 2, "answer": ["[/x]"] * 2, "score": [0.5] * 2})
    sy.write(table, tmp_path / "[red]t.parquet")
    sy.VanillaVote().save(tmp_path / "plan.json")
    shown = _in_terminal("vote", tmp_path / "[red]t.parquet", "--plan", tmp_path / "plan.json")
    assert "[/x]" in shown
    assert "[bold]q" in shown


def test_long_work_tells_a_log_how_far_it_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.progress_display.QUIET", 0.0)
    done = steelyard("evaluate", file, "--resamples", 3)
    assert "Reading" in done.err
    assert "Evaluating: 100 %" in done.err


def test_an_interrupt_while_starting_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys, builtins, steelyard.__main__ as m\n"
        "real = builtins.__import__\n"
        "def stop(name, *a, **k):\n"
        "    if name == 'steelyard.cli': raise KeyboardInterrupt\n"
        "    return real(name, *a, **k)\n"
        "builtins.__import__ = stop; m.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


@pytest.mark.long
def test_the_demo_on_a_terminal(tmp_path: Path) -> None:
    sy.write(sy.simulate(100, 64), tmp_path / "t.parquet")
    shown = _in_terminal("demo", "-o", tmp_path / "demo", "--pair", tmp_path / "t.parquet")
    assert "steelyard evaluate" in shown


def test_a_closed_pipe_is_no_traceback(file: Path) -> None:
    command = f"{sys.executable} -m steelyard evaluate {file} --calibrate 0.5 --resamples 0 --json | head -c 10"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert without_progress(done.stderr) == ""


def test_an_interrupt_is_one_word_and_exit_code_130(tmp_path: Path) -> None:
    """At a moment at which kernels are compiled for the first time."""
    sy.write(sy.simulate(200, 8), tmp_path / "t.parquet")
    command = [sys.executable, "-m", "steelyard", "evaluate", str(tmp_path / "t.parquet"), "--resamples", "100000"]
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            until(lambda: any((tmp_path / "cache").rglob("*.o")))  # the first of many
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, without_progress(err)) == (130, "stopped\n")


@pytest.mark.parametrize("then", ["time.sleep(3600)", "raise RuntimeError('no compiled object')"])
def test_an_interrupt_in_a_callback_is_not_lost(then: str) -> None:
    code = (
        "import signal, sys, time, steelyard.cli, steelyard.__main__ as m\n"
        "class Callback:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "def run():\n"
        "    Callback()\n"
        f"    {then}\n"
        "steelyard.cli.main = run; m.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def test_a_second_interrupt_while_the_command_ends_changes_nothing() -> None:
    code = (
        "import atexit, os, signal, steelyard.cli, steelyard.__main__ as m\n"
        "def late():\n"
        "    try: signal.raise_signal(signal.SIGINT)\n"
        "    except KeyboardInterrupt: os.write(2, b'stopped again')\n"
        "atexit.register(late)\n"
        "steelyard.cli.parser = lambda: lambda *words, **options: 130; m.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def test_running_the_module_is_running_the_command(file: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "steelyard", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"steelyard {sy.__version__}\n"


@pytest.mark.long
def test_deciding_a_file_needs_memory_for_a_batch_not_for_the_file(tmp_path: Path) -> None:
    """A hundred times the rows of one batch; held whole, their text alone would take several times this."""
    one = sy.simulate(3000, 32, seed=0, world=sy.testing.World(unreadable=0.0)).drop("correct")
    text = pl.col("answer") + "x" * 100
    sy.VanillaVote().save(tmp_path / "plan.json")

    def peak(copies: int) -> int:
        parts = [one.with_columns(text, question=f"{i}-" + pl.col("question")) for i in range(copies)]
        sy.write(pl.concat(parts), tmp_path / "t.parquet")
        program = "from steelyard.cli import main\nmain()"
        done = measured(program, "vote", tmp_path / "t.parquet", "--plan", tmp_path / "plan.json")
        assert done.code == 0, done.err
        return done.peak

    small, large = peak(1), peak(40)
    assert large - small < 250, f"{small} MB for 96,000 rows, {large} MB for 3.8 million"


def test_fit_draws_only_scores_near_those_that_were_seen(tmp_path: Path) -> None:
    table = sy.simulate(60, 8, seed=1).with_columns(score=0.26 + pl.col("score") * 0.2)
    sy.write(table, tmp_path / "t.parquet")
    done = steelyard("fit", tmp_path / "t.parquet", "--method", "logit")
    assert done.code == 0, done.err
    chart = done.out.partition("What a score is worth")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in chart[2:-1]] == ["0.3", "0.4", "0.5"]
    assert chart[-1].startswith("The scores of the calibration set are between 0.2")
    assert "by number of questions to learn from (of 60)" in steelyard("fit", tmp_path / "t.parquet").out
