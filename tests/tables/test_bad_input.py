"""Every mistake is one line with the fix, exit code 2, no traceback, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from tests.measuring import unmeasured
from tests.running import steelyard, without_progress

GOOD = sy.simulate(60, 4, seed=0)


def _write(change: Callable[[pl.DataFrame], pl.DataFrame], name: str = "t.parquet") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        sy.write(change(GOOD), folder / name)
        return folder / name

    return make


def _text(content: str | bytes, name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return make


def _truncated(folder: Path) -> Path:
    sy.write(GOOD, folder / "t.parquet")
    data = (folder / "t.parquet").read_bytes()
    (folder / "t.parquet").write_bytes(data[: len(data) // 2])
    return folder / "t.parquet"


def _scrambled(folder: Path) -> Path:
    """A Parquet file with a sound footer and damaged pages."""
    sy.write(GOOD, folder / "t.parquet")
    data = bytearray((folder / "t.parquet").read_bytes())
    data[8 : len(data) // 3] = bytes(len(data) // 3 - 8)
    (folder / "t.parquet").write_bytes(data)
    return folder / "t.parquet"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "t.parquet")
    return folder / "t.parquet"


LINE = '{"question": "a", "answer": "1", "score": 0.5, "correct": true}\n'
score = pl.col("score")
CASES: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "no such file": (lambda folder: folder / "nope.parquet", ("no such file", "correct the path")),
    "no such folder": (lambda folder: folder / "none" / "nope.parquet", ("no such file", "there is no folder")),
    "a mistyped name": (
        lambda folder: _text(LINE, "table.jsonl")(folder).with_name("tabel.jsonl"),
        ("no such file", "did you mean", "table.jsonl?"),
    ),
    "a pattern without files": (lambda folder: folder / "*.parquet", ("no such file", "correct the pattern")),
    "a deeply nested line": (_text(LINE + "[" * 200 + "]" * 200 + "\n", "t.jsonl"), ("line 2", "flatten or remove it")),
    "a folder": (lambda folder: folder, ("is a folder",)),
    "an empty file": (_text("", "t.parquet"), ("is empty",)),
    "an empty jsonl": (_text("", "t.jsonl"), ("is empty",)),
    "a blank jsonl": (_text("\n\n", "t.jsonl"), ("is empty",)),
    "a csv with a header only": (_text("question,answer,score,correct\n", "t.csv"), ("",)),
    "a table without rows": (_write(lambda t: t.head(0)), ("is empty",)),
    "an unknown suffix": (_text("x", "t.xlsx"), (".parquet", "suffix")),
    "a truncated parquet": (_truncated, ("cannot be read as parquet",)),
    "a scrambled parquet": (_scrambled, ("cannot be read",)),
    "text called parquet": (_text("hello", "t.parquet"), ("cannot be read as parquet",)),
    "a bad json line": (_text(LINE + LINE + "{oops\n" + LINE, "t.jsonl"), ("line 3 is not JSON",)),
    "a json line that is no object": (
        _text(LINE + "[1, 2]\n", "t.jsonl"),
        ("line 2", "not an object", 'write {"question": ...'),
    ),
    "bytes that are no text": (_text(LINE.encode() + b"\xff\xfe\n", "t.jsonl"), ("line 2 is not JSON",)),
    "deep json": (_text(LINE + "[" * 200_000 + "\n", "t.jsonl"), ("line 2 cannot be read as JSON",)),
    "no question": (_write(lambda t: t.rename({"question": "questoin"})), ("no column 'question'", "questoin")),
    "no answer": (_write(lambda t: t.drop("answer")), ("no column 'answer'",)),
    "no score": (_write(lambda t: t.drop("score")), ("no column of scores", "--score none")),
    "several scores": (
        _write(lambda t: t.rename({"score": "prm"}).with_columns(orm=pl.lit(0.5))),
        ("several columns could be the score", "prm", "orm"),
    ),
    "scores outside": (_write(lambda t: t.with_columns(score * 9 - 3)), ("outside [0, 1]", "sigmoid(score)")),
    "an infinite score": (_write(lambda t: t.with_columns(score / 0)), ("outside [0, 1]",)),
    "no score at all": (_write(lambda t: t.with_columns(score * float("nan"))), ("every score is missing",)),
    "null scores": (
        _write(lambda t: t.with_columns(score=pl.lit(None, pl.Float64))),
        ("every score is missing", "majority"),
    ),
    "too few questions": (_write(lambda t: t.head(4 * 9)), ("calibration questions are too few", "at least 10")),
    "a repeated sample": (_write(lambda t: pl.concat((t, t.head(1)))), ("'q00' has sample 0 more than once",)),
    "a repeated sample next to its twin": (_write(lambda t: pl.concat((t.head(1), t))), ("more than once",)),
    "a missing label": (
        _write(lambda t: t.with_columns(correct=pl.when(pl.row_index() != 5).then("correct"))),
        ("1 responses have no label", "'q01'"),
    ),
    "labels that are words": (
        _write(lambda t: t.with_columns(correct=pl.lit("maybe"))),
        ("no label that is true or false",),
    ),
    "labels that are lists": (
        _write(lambda t: t.with_columns(correct=pl.concat_list("correct"))),
        ("'correct' contains",),
    ),
    "a score beyond 64 bits": (
        _text(LINE + LINE.replace("0.5", "1" + "0" * 40), "t.jsonl"),
        ("contains text, not numbers",),
    ),
    "objects 900 deep": (
        _text('{"question": "q", "z": ' + '{"a":' * 900 + "1" + "}" * 901, "t.jsonl"),
        ("nested more",),
    ),
    "a list as question": (
        _write(lambda t: t.with_columns(question=pl.concat_list("question"))),
        ("'question' is a list of texts",),
    ),
    "percentages": (
        _write(lambda t: t.with_columns(score * 100)),
        ("if these are percent, read them with --score score/100",),
    ),
    "step logits": (
        _write(lambda t: t.select(pl.exclude("score"), score=pl.concat_list(score * 9 - 3))),
        ("--score 'sigmoid(score):last'",),
    ),
    "a pipe": (_pipe, ("a device or a pipe",)),
    "no labels": (_write(lambda t: t.drop("correct")), ("needs labels", "'correct'", "'gold'")),
    "a null question": (
        _write(lambda t: t.with_columns(question=pl.when(pl.row_index() != 5).then("question"))),
        ("1 rows or more have no question id",),
    ),
    "a null sample": (
        _write(lambda t: t.with_columns(sample=pl.when(pl.row_index() != 5).then("sample"))),
        ("1 rows or more have no sample number",),
    ),
    "samples that are words": (_write(lambda t: t.with_columns(sample=pl.lit("first"))), ("'sample' contains",)),
    "scores that are words": (_write(lambda t: t.with_columns(score=pl.lit("high"))), ("contains text, not numbers",)),
}


@pytest.mark.parametrize("verb", ["fit", "evaluate"])
@pytest.mark.parametrize("case", CASES)
def test_a_file_that_cannot_be_used_is_one_line_with_the_fix(case: str, verb: str, tmp_path: Path) -> None:
    make, words = CASES[case]
    path = make(tmp_path)
    output = ("--method", "calibrated", "-o", tmp_path / "plan.json") if verb == "fit" else ("--resamples", 0)
    done = steelyard(verb, path, *output)
    lines = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    assert done.code == 2, done.out + done.err
    assert len(lines) == 1, done.err
    assert lines[0].startswith("error: ")
    for word in words:
        assert word in lines[0]
    assert not (tmp_path / "plan.json").exists()
    assert done.out == ""


@pytest.mark.parametrize("correct", [True, False])
def test_labels_that_are_all_alike_leave_the_majority_vote_with_a_warning(correct: bool, tmp_path: Path) -> None:
    path = _write(lambda t: t.with_columns(correct=pl.lit(correct)))(tmp_path)
    done = steelyard("fit", path, "--method", "calibrated", "-o", tmp_path / "plan.json")
    assert done.code == 0, done.err
    assert "there is nothing to learn beyond majority vote; check the labels" in done.err


WRONG: list[tuple[tuple[Any, ...], str]] = [
    (("fit", "FILE", "--method", "logti"), "did you mean 'logit'"),
    (("fit", "FILE", "--method", ""), "--method is empty: give a name"),
    (("fit", "FILE", "--score", "scor"), "did you mean 'score'"),
    (("fit", "FILE", "--score", ""), "no score column ''"),
    (("fit", "FILE", "--score", "answer"), "contains String, not numbers"),
    (("fit", "FILE", "--score", "score:min"), "one number per response"),
    (("fit", "FILE", "--method", "logit", "--set", "rule=exat"), "did you mean 'exact'"),
    (("fit", "FILE", "--method", "kde", "--set", "rule=exact"), "kde has no setting 'rule'"),
    (("fit", "FILE", "--set", "rule=exact"), "calibrated has no setting 'rule'"),
    (("fit", "FILE", "--method", "kde", "--set", "bandwith=1"), "did you mean 'bandwidth'"),
    (("fit", "FILE", "--method", "kde", "--set", "bandwidth=wide"), "bandwidth must be float or none, not 'wide'"),
    (("fit", "FILE", "--method", "kde", "--set", "bins=2.5"), "bins must be int, not '2.5'"),
    (("fit", "FILE", "--method", "kde", "--set", "bins=none"), "bins must be int, not 'none'"),
    (("fit", "FILE", "--set", "clip=nan"), "clip must be float, not 'nan'"),
    (("fit", "FILE", "--set", "clip"), "cannot set 'clip': write KEY=VALUE"),
    (("fit", "FILE", "--set", "clip=0.1", "--set", "clip=0.2"), "clip is set twice"),
    (("fit", "FILE", "--set", "reserve=1"), "reserve must lie between"),
    (("methods", "logti"), "did you mean 'logit'"),
    (("vote", "FILE", "--risk", "0.1"), "majority learns no probability"),
    (("fit", "FILE", "--set", "clip=0.9"), "clip must lie between"),
    (("fit", "FILE", "-n", "0"), "n must be at least 1"),
    (("fit", "FILE", "-n", "many"), "Invalid value for '-n'"),
    (("fit", "FILE", "--calibrate", "0"), "leaves one side empty"),
    (("fit", "FILE", "--calibrate", "nan"), "leaves one side empty"),
    (("evaluate", "FILE", "--calibrate", "30"), "did you mean 0.3?"),
    (("evaluate", "FILE", "--calibrate", "1.5"), "choose a share between 0 and 1, or bring more questions"),
    (("evaluate", "FILE", "--method", ","), "no method to evaluate"),
    (("evaluate", "FILE", "--resamples", "1000000000000"), "resamples must lie between"),
    (("fit", "FILE", "--method", "logit", "--set", "points=1000000000"), "points must lie between"),
    (("fit", "FILE", "--method", "kde", "--set", "bandwidth=1e-9"), "bandwidth must lie between"),
    (("fit", "FILE", "--method", "pass-at-n"), "pass-at-n is an oracle"),
    (("fit", "FILE", "-o", "PIPE"), "it is a device or a pipe"),
    (("fit", "FILE", "-o", "x" * 300), "cannot write"),
    (("simulate", "-o", "t.parquet", "--rivals", "0"), "rivals must lie between"),
    (("simulate", "-o", "t.parquet", "--gap", "nan"), "gap must lie between"),
    (("simulate", "-o", "t.parquet", "--questions", "1000000000000"), "at most 100,000,000 responses"),
    (("fit", "FILE", "--rename", "question"), "THEIRS=OURS"),
    (("fit", "FILE", "--rename", "quest=question"), "did you mean 'question'"),
    (("fit", "FILE", "-o", "FOLDER/none/plan.json"), "there is no folder"),
    (("fit", "FILE", "-o", "FOLDER"), "it is a folder"),
    (("fit",), "Missing argument"),
    (("fit", "FILE", "--scor", "x"), "No such option"),
    (("evaluate", "FILE", "--method", "logit,foo"), "unknown method 'foo'"),
    (("evaluate", "FILE", "-n", "1,two"), "list of integers"),
    (("evaluate", "FILE", "-n", "99"), "between 1 and 4"),
    (("evaluate", "FILE", "--seed", "-1"), "--seed"),
    (("vote", "FILE", "--plan", "nope.json"), "no such plan"),
    (("vote", "FILE", "--plan", "FILE"), "is not a plan"),
    (("vote", "FILE", "--plan", "PLAN", "-o", "v.xlsx"), "suffix must be one of"),
    (("vote", "FILE", "--plan", "PLAN", "-o", "FOLDER/none/v.csv"), "there is no folder"),
    (("vote", "FILE", "--plan", "PLAN", "--score", "prm"), "fitted on the score 'score', not on 'prm'"),
    (("vote", "OTHER", "--plan", "PLAN"), "The plan was fitted on 'score': rename your column to match"),
    (("vote", "FILE", "--plan", "/dev/zero"), "is not a plan"),
    (("simulate", "-o", "t.parquet", "--questions", "0"), "at least one question"),
    (("simulate", "-o", "/proc/t.parquet"), "cannot write /proc/t.parquet"),
    (("demo", "-o", "FILE"), "cannot make the folder"),
    (("frobnicate",), "No such command"),
]


@pytest.mark.parametrize(
    ("words", "message"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_words_that_cannot_be_meant_are_one_line_with_the_fix(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    file, other, plan = tmp_path / "t.parquet", tmp_path / "other.parquet", tmp_path / "plan.json"
    sy.write(GOOD, file)
    sy.write(GOOD.rename({"score": "scores"}), other)
    pool = sy.read(file)
    sy.LogitVote().fit(pool).save(plan)
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.rglob("*"))
    names = {"FILE": file, "OTHER": other, "PLAN": plan, "PIPE": tmp_path / "pipe"}
    done = steelyard(*(names.get(word, word.replace("FOLDER", str(tmp_path))) for word in words))
    assert done.code == 2
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("error: ")
    assert message in done.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_may_not_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere, so ask in its place
    done = steelyard("fit", tmp_path / "never read", "-o", tmp_path / "plan.json")
    assert (done.code, "permission denied; choose another path" in done.err) == (2, True)


@pytest.mark.parametrize("name", ["v.parquet", "v.jsonl", "v.csv", "v.arrow", "plan.json"])
def test_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    """A real fault: the system refuses to let the file grow beyond 4 kB."""
    inputs, target = tmp_path / "in", tmp_path / "out" / name
    inputs.mkdir()
    target.parent.mkdir()
    target.write_text("old")
    sy.write(sy.simulate(400, 4), inputs / "t.parquet")
    sy.VanillaVote().save(inputs / "plan.json")
    words = f"fit {inputs}/t.parquet --method kde", f"vote {inputs}/t.parquet --plan {inputs}/plan.json"
    verb = words[name != "plan.json"]
    code = (
        "import resource, sys, numba, steelyard.cli\n"
        "numba.config.DISABLE_JIT = True\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        f"sys.argv = ['steelyard', *{verb.split()!r}, '-o', {str(target)!r}]; steelyard.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=unmeasured())
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"error: cannot write {target}")
    assert "Traceback" not in done.stderr
    assert target.read_text() == "old"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("source", [5, None, object(), [1, 2], {"question": [1], "answer": [1, 2]}])
def test_what_is_no_table_is_refused(source: Any) -> None:
    with pytest.raises(sy.TableError):
        sy.read(source)


def test_missing_scores_null_answers_lone_answers_and_single_responses_are_handled(tmp_path: Path) -> None:
    patchy = GOOD.with_columns(
        pl.when(pl.row_index() % 5 != 0).then("score"), pl.when(pl.row_index() % 7 != 0).then("answer")
    )
    alone = pl.DataFrame(
        {"question": ["lone", "one", "one"], "sample": [0, 0, 1], "answer": ["1", "2", "2"], "correct": [True] * 3}
    )
    table = pl.concat((patchy, alone), how="diagonal_relaxed")
    sy.write(table, tmp_path / "t.parquet")
    fitted = steelyard("fit", tmp_path / "t.parquet", "-o", tmp_path / "plan.json")
    voted = steelyard("vote", tmp_path / "t.parquet", "--plan", tmp_path / "plan.json", "-o", tmp_path / "v.parquet")
    assert (fitted.code, voted.code) == (0, 0), fitted.err + voted.err
    verdicts = pl.read_parquet(tmp_path / "v.parquet")
    assert verdicts.tail(2)["answer"].to_list() == ["1", "2"]
    assert verdicts.select(pl.col("confidence", "share", "margin").is_finite().all()).row(0) == (True,) * 3


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    sy.write(GOOD, tmp_path / "link.csv", overwrite=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("question,")


def _run(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-c", command.replace("steelyard", f"{sys.executable} -m steelyard", 1)]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | environment)


@pytest.mark.long  # four processes
def test_every_stream_may_be_closed_full_or_ascii(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    sy.write(GOOD.with_columns(pl.lit("ü[/x]") + pl.col("answer")).drop("answer").rename({"literal": "answer"}), file)
    assert _run(f"steelyard vote {file} --method vanilla --answers exact >&-").returncode == 0
    assert _run(f"steelyard vote {file} --method vanilla --answers exact 2>&-").returncode == 0
    full = _run(f"steelyard vote {file} --method vanilla --answers exact > /dev/full")
    assert (full.returncode, without_progress(full.stderr).count("\n")) == (2, 1)
    assert "No space left" in full.stderr
    ascii_only = _run(
        f"steelyard vote {file} --method vanilla --answers exact", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert (ascii_only.returncode, without_progress(ascii_only.stderr)) == (0, "")


def test_a_parquet_file_with_a_few_wrong_bytes_is_read_or_refused(tmp_path: Path) -> None:
    """But for one in some 1,500 files, with which polars asks for 2^61 bytes and ends the process."""
    data = bytearray()
    GOOD.write_parquet(tmp_path / "good.parquet")
    rng = np.random.default_rng(0)
    for trial in range(40):
        data[:] = (tmp_path / "good.parquet").read_bytes()
        for at in rng.integers(4, len(data) - 8, 3):
            data[at] = rng.integers(256)
        (tmp_path / "t.parquet").write_bytes(data)
        done = steelyard("vote", tmp_path / "t.parquet", "--method", "vanilla")
        assert done.code in (0, 2), (trial, done.err)
        assert "Traceback" not in done.err
