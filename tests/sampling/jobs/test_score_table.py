"""steelyard score FILE: a table becomes a run beside it, and is scored as durably as a run of `generate`."""

from __future__ import annotations

import json
import math
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.run import Run
from steelyard.sampling.verifiers.protocols import p_true
from tests.running import steelyard
from tests.sampling.jobs.test_score import journal, questions_asked, scores_there
from tests.sampling.verifiers.fault_verifier import share
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import command
from tests.waiting import until

ROWS = [
    {
        "question": f"q{i:02}",
        "prompt": f"What is {i} + 1?",
        "response": f"We add {j}.\n\nThe answer is \\boxed{{{i + 1 + j % 2}}}.",
        "gold": str(i + 1),
        "prm": [0.25, (i + j) % 4 / 4],
        "logprobs": [-0.1 * (1 + j), -0.3],
        "llm": "qwen",
        "temperature": 0.5,
        "seed": j,
        "stopped": j != 1,
    }
    for i in range(40)
    for j in range(3)
]
TABLE = pl.DataFrame(ROWS)
P_TRUE = ("p-true", "--upstream", "http://127.0.0.1:9/v1")


def asking(file: object, server: FaultVerifier, *more: object) -> tuple[object, ...]:
    return ("score", file, "--verifier", "p-true", "--upstream", f"{server.url}/v1", "--model", "good", *more)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    TABLE.write_ndjson("mine.jsonl")
    return tmp_path


def suggested(out: str) -> list[str]:
    """The words of the command that `score` suggests next."""
    found = re.search(r"^Next: steelyard (.+)$", out, re.MULTILINE)
    assert found, out
    return shlex.split(found[1])


@pytest.mark.parametrize("name", ["mine.parquet", "mine.csv", "mine.jsonl"])
def test_any_table_becomes_a_run_beside_it_and_what_is_suggested_next_works(here: Path, name: str) -> None:
    table = TABLE.drop("prm", "logprobs").with_columns(self_logprob=pl.lit(0.5)) if name.endswith("csv") else TABLE
    sy.write(table, name, overwrite=True)
    done = steelyard("score", name, "--verifier", "logprob")
    assert done.code == 0, done.err
    assert "Scored 120 responses; 0 were already scored." in done.out
    scored = pl.read_parquet(here / "mine.scored" / "table.parquet")
    assert set(scored.columns) == {*table.columns, "sample", "logprob"}
    assert scored.select(table.columns).equals(table)
    expected = [0.5] * 120 if name.endswith("csv") else [math.exp(-(0.1 * (1 + r % 3) + 0.3) / 2) for r in range(120)]
    assert scored["logprob"].list.first().to_list() == pytest.approx(expected)
    following = suggested(done.out)
    assert following == ["fit", "mine.scored", "--score", "logprob", "-o", "plan.json"]
    assert steelyard(*following, "--method", "logit").code == 0
    assert steelyard("vote", "mine.scored", "--plan", "plan.json").code == 0


def test_without_labels_or_with_few_questions_a_vote_is_suggested_and_works(here: Path) -> None:
    sy.write(TABLE.drop("gold"), "my responses.jsonl")
    sy.write(TABLE.head(9), "few.jsonl")
    sy.write(TABLE.drop("gold").with_columns(correct=pl.lit(True)), "all.parquet")
    for name in ("my responses.jsonl", "few.jsonl", "all.parquet"):
        following = suggested(steelyard("score", name, "--verifier", "logprob").out)
        assert following[:2] == ["vote", f"{Path(name).stem}.scored"]
        assert steelyard(*following).code == 0


@pytest.mark.parametrize("name", ["mine.parquet", "mine.jsonl"])
def test_a_list_of_accepted_golds_labels_the_scored_table_as_it_labels_the_file(here: Path, name: str) -> None:
    golds = TABLE.with_columns(gold=pl.concat_list(pl.lit("no such number"), "gold"))
    sy.write(golds, name, overwrite=True)
    done = steelyard("score", name, "--verifier", "logprob")
    assert done.code == 0, done.err
    scored, read = sy.read("mine.scored", score="logprob"), sy.read(name, score="prm")
    assert isinstance(scored, sy.LabelledPool)
    assert isinstance(read, sy.LabelledPool)
    assert scored.correct.tolist() == read.correct.tolist() == [r % 3 != 1 for r in range(120)]
    assert steelyard(*suggested(done.out), "--method", "logit").code == 0


def test_each_response_is_asked_about_once_with_its_own_prompt(here: Path) -> None:
    with fault_verifier(here) as server:
        first = steelyard(*asking("mine.jsonl", server, "--json"))
        assert first.code == 0, first.err
        assert set(questions_asked(server).values()) == {1}
        asked = len(server.asked())
        again = steelyard(*asking("mine.jsonl", server, "--json"))
        assert len(server.asked()) == asked, "not even the probe"
    said, later = json.loads(first.out), json.loads(again.out)
    assert (said["run"], said["new"], later["new"], later["scored"]) == ("mine.scored", 120, 0, 120)
    for row in pl.read_parquet(here / "mine.scored" / "table.parquet").iter_rows(named=True):
        (message,) = p_true.render(row["prompt"], [row["response"]])
        assert row["p-true"] == [pytest.approx(share(message["content"]))]
    status = steelyard("status", "mine.scored").out
    assert "mine.scored: qwen, 40 questions, responses of mine.jsonl" in status
    assert "Its table is up to date." in status


@pytest.mark.long
def test_killed_in_the_middle_and_given_again_it_goes_on(here: Path) -> None:
    TABLE.write_ndjson("calm.jsonl")
    with fault_verifier(here) as server:
        server.allow(70)
        words, environment = command(*asking("mine.jsonl", server))
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until(lambda: scores_there(Path("mine.scored")))  # it is at work
        process.send_signal(signal.SIGKILL)
        process.communicate()
        server.allow()
        safe = {
            (record["question"], record["sample"]): record["steps"] for record in journal(Path("mine.scored"), "score")
        }
        assert 0 < len(safe) < 120, "killed at work, not before or after it"
        asked = sum(questions_asked(server).values())
        done = steelyard(*asking("mine.jsonl", server, "--json"))
        assert json.loads(done.out)["new"] == 120 - len(safe)
        assert sum(questions_asked(server).values()) - asked == 120 - len(safe), "what is safe is not asked again"
        assert steelyard(*asking("calm.jsonl", server)).code == 0
    ours, calm = (Path(folder) / "table.parquet" for folder in ("mine.scored", "calm.scored"))
    assert ours.read_bytes() == calm.read_bytes()


def test_a_table_that_was_taken_in_only_in_part_is_completed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.runs.run.MANY", 50)
    whole = Run.add_now
    calls = []

    def interrupted(run: Run, records: Any) -> None:
        calls.append(len(records))
        if len(calls) == 2:
            raise KeyboardInterrupt
        whole(run, records)

    monkeypatch.setattr(Run, "add_now", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sy.score("mine.jsonl", "logprob")
    monkeypatch.setattr(Run, "add_now", whole)
    half = sy.status("mine.scored")
    assert (half["samples"]["done"], half["samples"]["left"]) == (50, 70)
    assert "run the 'steelyard score' command of this run again" in steelyard("status", "mine.scored").out
    assert sy.score("mine.jsonl", "logprob").new == 120
    assert len(journal(Path("mine.scored"), "sample")) == 120


def test_a_changed_table_is_refused_and_an_equal_one_in_another_format_is_not(here: Path) -> None:
    assert steelyard("score", "mine.jsonl", "--verifier", "logprob").code == 0
    sy.write(TABLE, "mine.parquet")
    assert sy.score("mine.parquet", "logprob").before == 120
    before = (here / "mine.scored" / "journal.jsonl").read_bytes()
    TABLE.with_columns(pl.col("response") + "!").write_ndjson("mine.jsonl")
    done = steelyard("score", "mine.jsonl", "--verifier", "logprob", "--as", "again")
    assert done.code == 2
    assert "mine.jsonl is not what mine.scored was made from" in done.err
    assert (here / "mine.scored" / "journal.jsonl").read_bytes() == before
    assert steelyard("score", "mine.jsonl", "--verifier", "logprob", "-o", "other").code == 0
    assert steelyard("score", "mine.scored", "--verifier", "logprob", "--as", "again").code == 0, (
        "the run itself goes on"
    )


@pytest.mark.parametrize(
    ("change", "words", "said"),
    [
        ({"prompt": None}, (*P_TRUE, "--model", "m"), "reads: add it, or rename yours (--rename yours=prompt)"),
        ({"response": None, "answer": "2"}, ("logprob",), "has no column 'response' with the full text"),
        ({"logprobs": None}, ("logprob",), "recorded no log-probability: add a column 'logprobs'"),
        ({"sample": 0}, ("logprob",), "has sample 0 more than once"),
        ({"sample": "seed - 1"}, ("logprob",), "a sample has the number -1: number them 0, 1, 2, .."),
        ({"prompt": "seed"}, (*P_TRUE, "--model", "m"), "question 'q00' has several texts in 'prompt'"),
        ({"prompt": " "}, (*P_TRUE, "--model", "m"), "question 'q00' has no text in 'prompt'"),
        ({"llm": None}, P_TRUE, "with --model"),
        ({}, ("logprob", "--as", "prm"), "choose another name for the scores with --as"),
        ({}, ("logprob", "--as", "gold"), "the table already has a column"),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_is_one_line_with_the_fix(
    here: Path, change: dict[str, Any], words: tuple[str, ...], said: str
) -> None:
    made = {
        name: pl.sql_expr(value) if str(value).startswith("seed") else pl.lit(value) for name, value in change.items()
    }
    table = TABLE.with_columns(**made).drop([name for name, value in change.items() if value is None])
    table.write_ndjson("bad.jsonl")
    done = steelyard("score", "bad.jsonl", "--verifier", *words)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_columns_that_cannot_be_kept_are_named_and_names_are_mapped(here: Path) -> None:
    table = TABLE.rename({"response": "completion"}).with_columns(meta=pl.struct("seed"))
    with pytest.warns(sy.SteelyardWarning, match="the columns meta are left out of the scored table"):
        scored = sy.score(table, "logprob", output="run", rename={"completion": "response"})
    assert (scored.run, scored.new) == (Path("run"), 120)
    assert "meta" not in pl.read_parquet_schema("run/table.parquet")
    for nameless in (TABLE, "*.jsonl", "grid:smol-misled", "-"):
        with pytest.raises(sy.SettingError, match="name the folder of a run with -o"):
            sy.score(nameless, "logprob")
    with pytest.raises(sy.TableError, match="no such file: mistyped"):
        sy.score("mistyped", "logprob")
    with pytest.raises(sy.SettingError, match="is already a run"):
        sy.score("run", "logprob", output="other")


def test_a_run_of_generate_is_not_taken_for_the_run_of_a_table(here: Path) -> None:
    from tests.runs.runs_small import small_run

    small_run(here / "mine.scored")
    done = steelyard("score", "mine.jsonl", "--verifier", "logprob")
    assert done.code == 2
    assert "mine.scored is a run of 'steelyard generate': name another folder with -o" in done.err


def test_a_manifest_with_impossible_columns_is_refused(here: Path) -> None:
    sy.score("mine.jsonl", "logprob")
    manifest = here / "mine.scored" / "manifest.json"
    whole = manifest.read_text()
    manifest.write_text(whole.replace('"list of numbers"', '"anything"'))
    (here / "mine.scored" / "table.json").unlink()
    with pytest.raises(sy.errors.RunError, match="is damaged"):
        sy.read("mine.scored", score="logprob")
    manifest.write_text(whole.replace('"rows": 120', '"rows": "many"'))
    with pytest.raises(sy.errors.RunError, match="is damaged"):
        sy.status("mine.scored")
    manifest.write_text(whole)
    assert sy.read("mine.scored", score="logprob").n_responses == 120
