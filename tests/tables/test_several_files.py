"""Several files as separate arguments, as an unquoted pattern arrives: one table, and nothing mixed up in silence."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.tables.sources import unpacking
from tests.running import steelyard

Rows = list[dict[str, Any]]
ALONE = "read the files one at a time"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Rows], Path]:
    monkeypatch.chdir(tmp_path)

    def write(name: str, rows: Rows) -> Path:
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return Path(name)

    return write


def rows(prefix: str, questions: int = 20, **more: Any) -> Rows:
    """Four responses per question: 4 with the higher scores, and 5."""
    return [
        {"question": f"{prefix}{q}", "answer": "45"[j % 2], "score": 0.75 - j / 8, "correct": j % 2 == 0, **more}
        for q in range(questions)
        for j in range(4)
    ]


def lists(gold: str, **more: Any) -> Rows:
    return [
        {"id": q, "completions": ["It is 4.", "It is 5."], "scores": [0.5, 0.25], "answer": gold, **more}
        for q in range(6)
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("vote", "--method", "vanilla"),
        ("fit", "--method", "logit"),
        ("evaluate", "--method", "majority,vanilla", "-n", "2", "--resamples", "3"),
        ("plan-budget", "--method", "vanilla", "--budget", "2"),
        ("answers",),
    ],
    ids=lambda words: words[0],
)
def test_a_verb_reads_files_of_its_arguments_as_the_one_table_they_are_together(
    written: Callable[[str, Rows], Path], words: tuple[str, ...]
) -> None:
    one, two = rows("a"), rows("b")
    verb, *options = words
    together = steelyard(verb, written("both.jsonl", one + two), *options, "--json")
    apart = steelyard(verb, written("a.jsonl", one), written("b.jsonl", two), *options, "--json")
    assert (together.code, apart.code) == (0, 0), together.err + apart.err
    assert json.loads(apart.out) == json.loads(together.out)


def test_files_are_scored_together_into_a_run_that_has_a_name(written: Callable[[str, Rows], Path]) -> None:
    files = [
        written(f"{name}.jsonl", [{"question": name, "response": "It is 4.", "logprobs": [-0.5]}])
        for name in ("a", "b")
    ]
    unnamed = steelyard("score", *files, "--verifier", "logprob")
    assert unnamed.code == 2
    assert "name the folder of a run with -o" in unnamed.err
    done = steelyard("score", *files, "--verifier", "logprob", "-o", "run", "--json")
    assert (done.code, json.loads(done.out)["new"]) == (0, 2)
    again = steelyard("score", "run", files[0], "--verifier", "logprob")
    assert (again.code, "run is a run, which is scored in place: give it alone" in again.err) == (2, True)


@pytest.mark.parametrize("verb", ["vote", "answers", "import", "fit"])
def test_an_output_that_is_one_of_the_inputs_is_refused(written: Callable[[str, Rows], Path], verb: str) -> None:
    files = [written(f"{name}.{'json' if verb == 'fit' else 'jsonl'}", rows(name)) for name in ("a", "b")]
    before = files[1].read_bytes()
    done = steelyard(verb, *files, "-o", files[1], "--overwrite")
    assert done.code == 2
    assert "it is an input of this command" in done.err
    assert files[1].read_bytes() == before


def test_an_output_among_the_files_of_a_deep_pattern_is_refused(written: Callable[[str, Rows], Path]) -> None:
    Path("deep/er").mkdir(parents=True)
    file = written("deep/er/a.jsonl", rows("a"))
    done = steelyard("import", "**/*.jsonl", "-o", file, "--overwrite")
    assert (done.code, "it is an input of this command" in done.err) == (2, True)


def test_a_file_that_is_named_twice_is_read_once(written: Callable[[str, Rows], Path]) -> None:
    file = written("a.jsonl", rows("a"))
    Path("link.jsonl").symlink_to(file)
    assert sy.read([file, str(file), file.absolute(), "link.jsonl"]).n_responses == 80


def test_a_plan_or_a_grid_among_the_files_is_no_table_of_responses(written: Callable[[str, Rows], Path]) -> None:
    file = written("a.jsonl", rows("a"))
    assert steelyard("fit", file, "--method", "logit", "-o", "plan.json").code == 0
    forgotten = steelyard("vote", file, "plan.json")
    assert forgotten.code == 2
    assert "plan.json has no column 'question', which a.jsonl has" in forgotten.err
    grid = steelyard("vote", file, "grid:smol-misled/prm_soft")
    assert (
        grid.code,
        "prm_soft cannot be combined with other sources: pass it alone" in grid.err,
    ) == (2, True)


def test_a_file_without_a_column_that_another_has_is_refused(written: Callable[[str, Rows], Path]) -> None:
    unscored = [{name: value for name, value in row.items() if name != "score"} for row in rows("b")]
    one, two = written("a.jsonl", rows("a")), written("b.jsonl", unscored)
    done = steelyard("vote", one, two, "--method", "vanilla", "--score", "score")
    assert done.code == 2
    assert f"b.jsonl has no column 'score', which a.jsonl has: {ALONE}" in done.err
    steps = written("c.jsonl", [row | {"score": [0.5]} for row in rows("c")])
    assert "'score' contains Float64 in a.jsonl and List(Float64) in c.jsonl" in steelyard("vote", one, steps).err


def test_a_column_that_says_nothing_about_votes_may_be_in_one_file_only(written: Callable[[str, Rows], Path]) -> None:
    assert sy.read([written("a.jsonl", rows("a")), written("b.jsonl", rows("b", note="late"))]).n_questions == 40


def test_questions_that_stand_in_several_files_vote_together_and_that_is_said(
    written: Callable[[str, Rows], Path],
) -> None:
    files = [written("a.jsonl", rows("q", 3)), written("b.jsonl", rows("q", 2) + rows("r", 1))]
    done = steelyard("vote", *files, "--json")
    assert done.code == 0
    assert "2 questions are in more than one of the files: their responses vote together" in done.err
    assert [each["votes"] for each in json.loads(done.out)["verdicts"]] == [4, 4, 2, 2]
    wide = [written("c.jsonl", lists("4")), written("d.jsonl", lists("4"))]
    assert "6 questions are in more than one of the files" in steelyard("vote", *wide).err


@pytest.mark.parametrize("verb", ["vote", "answers", "import"])
def test_files_that_number_questions_of_their_own_are_refused(written: Callable[[str, Rows], Path], verb: str) -> None:
    """A vote does not look at gold answers, and would mix the responses to two questions."""
    output = ("-o", "t.parquet") if verb == "import" else ()
    for other in (lists("5"), lists("4", problem="2 + 3?")):
        files = [written("a.jsonl", lists("4", problem="2 + 2?")), written("b.jsonl", other)]
        done = steelyard(verb, *files, *output)
        assert done.code == 2
        assert "question '0' is in several files with a different" in done.err
        assert done.err.rstrip().endswith(ALONE)
        assert steelyard(verb, files[1], *output).code == 0


def test_rows_without_a_question_id_are_numbered_through_all_files(written: Callable[[str, Rows], Path]) -> None:
    files = [
        written(f"{gold}.jsonl", [{"completions": ["It is 4.", "It is 5."], "answer": gold}] * 3) for gold in ("4", "5")
    ]
    assert sy.read(files, score="none").n_questions == 6


def test_the_same_sample_numbers_in_two_files_are_refused_and_both_fixes_work(
    written: Callable[[str, Rows], Path],
) -> None:
    numbered = [row | {"sample": i % 4} for i, row in enumerate(rows("q", 3))]
    files = [written("a.jsonl", numbered), written("b.jsonl", numbered)]
    done = steelyard("vote", *files)
    assert done.code == 2
    assert "question 'q0' has sample 0 in more than one of the files (a.jsonl, b.jsonl)" in done.err
    assert "--rename sample=number" in done.err
    more = steelyard("vote", *files, "--rename", "sample=number", "--json")
    assert {each["votes"] for each in json.loads(more.out)["verdicts"]} == {4}
    assert steelyard("vote", files[0]).code == 0
    later = written("c.jsonl", [row | {"sample": row["sample"] + 4} for row in numbered])
    assert "3 questions are in more than one of the files" in steelyard("vote", files[0], later).err


def test_python_reads_a_list_of_paths_as_the_command_line_does(written: Callable[[str, Rows], Path]) -> None:
    files = [written("a.jsonl", rows("a")), str(written("b.jsonl", rows("b")))]
    assert sy.read(files).n_questions == sy.vote(files).height == 40
    assert sy.read_answers(files).table.height == sy.import_table(files).height == 160


def test_help_says_that_there_may_be_several_files() -> None:
    for verb in ("vote", "fit", "evaluate", "answers", "plan-budget", "score", "import", "report"):
        assert "FILE..." in steelyard(verb, "--help").out


LARGE = 2**53


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize(("column", "options"), [("question", {}), ("sample", {}), ("who", {"source": "who"})])
def test_large_whole_numbers_beside_decimals_are_refused_and_never_merged(
    tmp_path: Path, suffix: str, column: str, options: dict[str, Any]
) -> None:
    whole = [{"question": "q", "answer": "45"[i]} | {column: LARGE + i} for i in range(2)]
    for name, lines in (("whole", whole), ("decimal", [{"question": "q", "answer": "4"} | {column: 1.5}])):
        sy.write(pl.DataFrame(lines), tmp_path / f"{name}{suffix}")
    files = [tmp_path / f"whole{suffix}", tmp_path / f"decimal{suffix}"]
    said = rf"{column!r} contains integers beyond 2\^53 in .*whole\{suffix} and decimals in .*decimal\{suffix}"
    for order in (files, files[::-1]):
        if (suffix, column) == (".jsonl", "question"):  # joined as text
            assert sy.read(order, score="none", answers="exact").n_questions == 3
            continue
        with pytest.raises(sy.TableError, match=said):
            sy.read(order, score="none", answers="exact", **options)


@pytest.mark.parametrize("shape", ["lines.jsonl", "list.json", "columns.json", "split.json"])
@pytest.mark.parametrize(
    "values", [(LARGE, LARGE + 1, 1.5), (2**63, 2**63 + 1), (-(2**64) - 1, -(2**64), 1), (10**30, 10**30 + 1, 1.5)]
)
def test_nor_are_they_merged_in_one_file(tmp_path: Path, shape: str, values: tuple[float, ...]) -> None:
    rows = [{"question": q, "who": q, "answer": "4"} for q in values]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    split = {"columns": list(columns), "index": [0, 1], "data": [list(row.values()) for row in rows]}
    texts = {
        "lines.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "list.json": json.dumps(rows),
        "columns.json": json.dumps(columns),
        "split.json": json.dumps(split),
    }
    (tmp_path / shape).write_text(texts[shape])
    read = sy.read(tmp_path / shape, score="none", answers="exact", source="who")
    assert list(read.questions) == [str(value) for value in values]
    assert set(read.sources) == {str(value) for value in values}


def test_small_whole_numbers_and_decimals_are_the_same_ids(tmp_path: Path) -> None:
    for name, values in (("a", [1, 2]), ("b", [1.0, 2.5])):
        sy.write(pl.DataFrame({"question": values, "answer": ["4", "5"]}), tmp_path / f"{name}.parquet")
    read = sy.read([tmp_path / "a.parquet", tmp_path / "b.parquet"], score="none", answers="exact")
    assert read.n_questions == 3


@pytest.mark.parametrize("sources", [["a.jsonl", "b.jsonl", "-"], ["-", "a.jsonl", "b.jsonl"], ["a.jsonl", "-"]])
def test_standard_input_is_checked_against_the_files_beside_it_and_named(
    written: Callable[[str, Rows], Path], monkeypatch: pytest.MonkeyPatch, sources: list[str]
) -> None:
    written("a.jsonl", rows("a"))
    written("b.jsonl", rows("b"))
    unlabelled = ({name: value for name, value in row.items() if name != "correct"} for row in rows("c"))
    content = "".join(json.dumps(row) + "\n" for row in unlabelled).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    unpacking._spooled_stdin.cache_clear()
    try:
        with pytest.raises(sy.SteelyardError, match=r"standard input has no column 'correct', which a\.jsonl has"):
            sy.read(sources)
    finally:
        unpacking._spooled_stdin.cache_clear()


def test_questions_whose_long_ids_begin_alike_stay_apart_in_files_and_row_groups(tmp_path: Path) -> None:
    ids = [f"question-{i:05}" for i in range(6)]
    rows = [pl.DataFrame({"question": [name] * 3, "answer": ["3", "3", "4"]}) for name in ids]
    files = []
    for i, part in enumerate(rows):
        files.append(tmp_path / f"{i}.parquet")
        part.write_parquet(files[-1])
    together = tmp_path / "together.parquet"
    pl.concat(rows).write_parquet(together, row_group_size=3)
    for source in (files, together):
        verdicts = sy.vote(source)
        assert verdicts["question"].to_list() == ids
        assert verdicts["responses"].to_list() == [3] * 6
