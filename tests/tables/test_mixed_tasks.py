"""Two tasks that both number their questions from 0 are two sets of questions, not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard


def _rows(task: str, shift: int, **more: Any) -> list[dict[str, Any]]:
    """Twelve questions, 0 to 11, with three responses each that agree on the gold answer."""
    return [
        {"task": task, "doc_id": i, "answer": str(i + shift), "gold": str(i + shift), **more}
        for i in range(12)
        for _ in range(3)
    ]


@pytest.mark.parametrize("column", ["task", "domain", "subject", "Category"])
@pytest.mark.parametrize("dropped", [[], ["gold"]])
def test_ids_that_stand_in_two_tasks_are_told_apart(column: str, dropped: list[str], tmp_path: Path) -> None:
    table = pl.DataFrame(_rows("sums", 0) + _rows("products", 100)).rename({"task": column}).drop(dropped)
    table.write_ndjson(tmp_path / "t.jsonl")
    done = steelyard("vote", tmp_path / "t.jsonl", "-o", tmp_path / "v.csv")
    assert done.code == 0, done.err
    assert f"12 ids mean a different question in each '{column}'" in done.err
    verdicts = pl.read_csv(tmp_path / "v.csv")
    assert verdicts.height == 24
    assert verdicts.row(0)[:2] == ("sums/0", 0)
    assert (verdicts["votes"] == 3).all()


def test_one_question_in_two_domains_stays_one_question() -> None:
    rows = _rows("sums", 0) + _rows("other", 0)
    assert sy.read(pl.DataFrame(rows), score="none").n_questions == 12
    texts = [row | {"prompt": f"What is {row['doc_id']}?"} for row in rows]
    assert sy.read(pl.DataFrame(texts), score="none").n_questions == 12
    texts = [row | {"prompt": f"What is {row['doc_id']} in {row['task']}?"} for row in rows]
    assert sy.read(pl.DataFrame(texts), score="none").n_questions == 24


def test_tasks_with_ids_of_their_own_are_left_as_they_are(recwarn: pytest.WarningsRecorder) -> None:
    rows = pl.DataFrame(_rows("sums", 0) + _rows("products", 100))
    apart = rows.with_columns(pl.format("{}-{}", "task", "doc_id").alias("doc_id"))
    assert "sums-0" in sy.read(apart, score="none").questions.to_list()
    assert not any("of its own" in str(each.message) for each in recwarn)


def _lm_eval(path: Path, word: str) -> Path:
    lines = [
        {
            "doc_id": i,
            "doc": {},
            "target": str(i),
            "arguments": {"gen_args_0": {"arg_0": f"{word} {i}?", "arg_1": {}}},
            "resps": [[f"The answer is {i}."] * 3],
            "filtered_resps": ["x"],
            "filter": "none",
        }
        for i in range(4)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_lm_eval_files_of_any_name_keep_their_questions_apart(tmp_path: Path) -> None:
    files = [_lm_eval(tmp_path / "a.jsonl", "Sum"), _lm_eval(tmp_path / "b.jsonl", "Product")]
    pool = sy.read(files, score="none")
    assert pool.n_questions == 8
    assert pool.n_responses == 24
    same = [_lm_eval(tmp_path / "c.jsonl", "Sum"), files[0]]
    with pytest.raises(sy.TableError, match="ask the same questions, from two runs or two LLMs"):
        sy.read(same, score="none")
