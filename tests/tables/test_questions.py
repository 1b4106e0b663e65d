"""Questions out of files of every layout, and the prompts they are put into."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from steelyard.foundation.errors import ColumnError, LabelError, SettingError, SteelyardWarning, TableError
from steelyard.tables.prompts import read_template
from steelyard.tables.question_files import read_questions

OWN = [
    {"question": "a", "prompt": "1 + 1?", "gold": "2", "domain": "sums"},
    {"question": "b", "prompt": "2 + 2?", "gold": "4", "domain": "sums"},
]
MMLU = {"question": "Which?", "answer": "B", "answer_index": 1, "category": "law", "question_id": 70}


def write(folder: Path, rows: list[dict[str, Any]], suffix: str = ".jsonl") -> Path:
    path = folder / f"questions{suffix}"
    table = pl.DataFrame(rows)
    match suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".parquet":
            table.write_parquet(path)
        case ".csv":
            table.write_csv(path)
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".csv"])
def test_our_own_columns_are_read_from_every_format(tmp_path: Path, suffix: str) -> None:
    found = read_questions(write(tmp_path, OWN, suffix))
    assert found.table.to_dicts() == OWN
    assert (found.layout, found.prompt) == ("own", "math")


def test_numbers_for_ids_and_golds_are_read_as_text(tmp_path: Path) -> None:
    rows = [{"question": 7, "prompt": "x", "gold": 2}, {"question": 8, "prompt": "y", "gold": 3}]
    assert read_questions(write(tmp_path, rows)).table["gold"].to_list() == ["2", "3"]


def test_golds_that_are_letters_suggest_the_prompt_for_choices(tmp_path: Path) -> None:
    rows = [dict(row, gold=letter) for row, letter in zip(OWN, "AC", strict=True)]
    assert read_questions(write(tmp_path, rows)).prompt == "choice"


def test_a_limit_takes_the_first_questions(tmp_path: Path) -> None:
    assert read_questions(write(tmp_path, OWN), limit=1).table["question"].to_list() == ["a"]


def test_questions_without_gold_are_read_with_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path, [{"question": "a", "prompt": "x"}])
    with pytest.warns(SteelyardWarning, match="no column 'gold'"):
        assert read_questions(path).table.columns == ["question", "prompt"]


@pytest.mark.parametrize(
    ("rows", "error", "says"),
    [
        ([{"prompt": "x", "gold": "1"}], ColumnError, "no column 'question'"),
        ([{"question": "what?", "gold": "1"}], ColumnError, "no column 'prompt'.*'question' is the id"),
        ([{"question": "what?", "answer": "1"}], ColumnError, "no column 'prompt'"),
        ([OWN[0], OWN[1], OWN[0]], ColumnError, "'a' is used in rows 1 and 3"),
        ([OWN[0], dict(OWN[1], prompt=" ")], ColumnError, "row 2 has no 'prompt'"),
        ([dict(OWN[0], question=None), OWN[1]], ColumnError, "row 1 has no 'question'"),
        ([OWN[0], dict(OWN[1], gold=None)], LabelError, "row 2 has no 'gold'"),
        ([dict(OWN[0], prompt=["x"])], ColumnError, "'prompt' contains List"),
        ([{"problem": "x", "solution": "so it is 3"}], LabelError, r"row 1 has no \\boxed"),
        (
            [{"question": "x", "answer": "so #### 3"}, {"question": "y", "answer": "3"}],
            LabelError,
            "row 2 .* after ####",
        ),
        ([dict(MMLU, options=["x", "y"], answer="C")], LabelError, "2 options and the answer 'C'"),
    ],
)
def test_what_is_missing_or_twice_is_said_with_its_row(
    tmp_path: Path, rows: list[dict[str, Any]], error: type[Exception], says: str
) -> None:
    path = write(tmp_path, rows)
    with pytest.raises(error, match=says) as raised:
        read_questions(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["no-such.jsonl", "/no/such/folder/q.csv"])
def test_a_file_that_is_not_there_is_said_so(name: str) -> None:
    with pytest.raises(TableError, match="no such file"):
        read_questions(name)


def test_a_damaged_file_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "q.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TableError, match="cannot be read"):
        read_questions(path)


def test_math_500_keeps_its_ids_answers_and_subjects(tmp_path: Path) -> None:
    row = {"problem": "P", "solution": r"so \boxed{3}", "answer": "3", "subject": "Algebra", "level": 2}
    found = read_questions(write(tmp_path, [row | {"unique_id": "test/algebra/1.json"}]))
    assert found.layout == "math-500"
    assert found.table.to_dicts() == [
        {"question": "test/algebra/1.json", "prompt": "P", "gold": "3", "domain": "Algebra"}
    ]


def test_math_has_its_gold_in_the_last_box_of_the_solution(tmp_path: Path) -> None:
    solution = r"First \boxed{1}, no: \[x = \boxed{\frac{1}{2}}.\]"
    found = read_questions(
        write(tmp_path, [{"problem": "P", "level": "Level 5", "type": "Algebra", "solution": solution}])
    )
    assert found.layout == "math"
    assert found.table.to_dicts() == [
        {"question": "math-00000", "prompt": "P", "gold": r"\frac{1}{2}", "domain": "Algebra"}
    ]


def test_gsm8k_has_its_gold_after_the_hashes(tmp_path: Path) -> None:
    rows = [{"question": "Q", "answer": "5 * 250 = <<5*250=1250>>1,250.\n#### 1,250"}]
    found = read_questions(write(tmp_path, rows))
    assert (found.layout, found.prompt) == ("gsm8k", "math")
    assert found.table.to_dicts() == [{"question": "gsm8k-00000", "prompt": "Q", "gold": "1250"}]


def test_mmlu_pro_has_its_options_lettered_in_the_prompt(tmp_path: Path) -> None:
    rows = [dict(MMLU, options=["x", "y", "N/A", "z", "N/A", "N/A"])]
    found = read_questions(write(tmp_path, rows, ".parquet"))
    assert (found.layout, found.prompt) == ("mmlu-pro", "choice")
    prompt = "Which?\n\nOptions:\nA. x\nB. y\nC. N/A\nD. z"
    assert found.table.to_dicts() == [{"question": "70", "prompt": prompt, "gold": "B", "domain": "law"}]


def test_ten_options_go_from_a_to_j(tmp_path: Path) -> None:
    rows = [dict(MMLU, options=[f"o{i}" for i in range(10)], answer="J")]
    found = read_questions(write(tmp_path, rows)).table
    assert found["prompt"][0].endswith("J. o9")
    assert found["gold"].to_list() == ["J"]


def test_a_name_of_the_hub_without_the_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(TableError, match="openai/gsm8k from the hub needs the package 'datasets': pip install"):
        read_questions("gsm8k")


def test_a_name_of_the_hub_is_loaded_by_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What we ask of the package is written down by a stand-in; tests/models/test_hub.py has the real one."""
    code = """
import polars as pl
asked = []
class Table:
    def to_polars(self):
        return pl.DataFrame({"problem": ["P"], "solution": ["so \\\\boxed{3}"], "type": [asked[-1][1]]})
def load_dataset(path, name=None, *, split):
    asked.append((path, name, split))
    if path == "no/such": raise ConnectionError("offline\\nand more")
    return Table()
"""
    (tmp_path / "datasets.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "datasets", raising=False)
    found = read_questions("math")
    import datasets

    assert found.table.height == 7
    assert datasets.asked[0] == ("EleutherAI/hendrycks_math", "algebra", "test")
    read_questions("openai/GSM8K:train")
    assert datasets.asked[-1] == ("openai/gsm8k", "main", "train")
    with pytest.raises(TableError, match="cannot be loaded from the hub: offline; download"):
        read_questions("no/such")
    monkeypatch.delitem(sys.modules, "datasets")


def test_a_prompt_from_a_file_keeps_its_other_braces(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_text("Q: {prompt}\nPut it in \\boxed{} {here}\n")
    assert read_template(str(path)).fill("1 {+} 1?") == "Q: 1 {+} 1?\nPut it in \\boxed{} {here}"


def test_a_prompt_that_is_not_there_or_has_no_place_for_the_question(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_text("no place")
    with pytest.raises(SettingError, match=r"has no \{prompt\}"):
        read_template(str(path))
    with pytest.raises(SettingError, match="did you mean 'math'"):
        read_template("maths")


def test_the_prompt_for_choices_asks_for_choices() -> None:
    assert (read_template("choice").answers, read_template("math").answers) == ("choice", None)
