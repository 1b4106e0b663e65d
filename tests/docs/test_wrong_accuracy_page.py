"""The page about accuracies that look wrong shows what its commands print, and `evaluate` points to it."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.cli.evaluate_view import PAGE
from tests.running import steelyard

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"<!-- run -->\n```(console|python)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def test_the_page_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = 0
    for kind, content, output in BLOCK.findall((ROOT / PAGE).read_text()):
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(content, PAGE, "exec"), {"__name__": "__main__"})
            printed = out.getvalue().splitlines()
        else:
            printed = steelyard(*shlex.split(content)[2:]).out.splitlines()
        for line in filter(lambda line: line != "..", output.splitlines()):
            assert line in printed, f"{content}\n{line}"
            shown += 1
    assert shown > 20


def labelled(*responses: str) -> pl.DataFrame:
    rows = [(f"q{i}", "7", response) for i in range(20) for response in responses]
    return pl.DataFrame(rows, schema=["question", "gold", "response"], orient="row")


@pytest.mark.parametrize(
    ("responses", "sign"),
    [
        (["It is 7."] * 3 + ["I do not know"], "25.0 % of the responses have no readable answer"),
        (["It is 7.", "It is 7.", *["It is 12."] * 3], "majority vote (0.0 %) is less accurate than a single response"),
    ],
)
def test_evaluate_points_to_the_page_in_one_line(responses: list[str], sign: str, tmp_path: Path) -> None:
    sy.write(labelled(*responses), tmp_path / "t.parquet")
    done = steelyard("evaluate", tmp_path / "t.parquet", "--score", "none", "--json")
    pointing = [line for line in done.err.splitlines() if PAGE in line]
    assert len(pointing) == 1, done.err
    assert sign in pointing[0]


def test_evaluate_points_nowhere_where_nothing_looks_wrong(tmp_path: Path) -> None:
    sy.write(labelled("It is 7.", "It is 7.", "It is 12."), tmp_path / "t.parquet")
    assert PAGE not in steelyard("evaluate", tmp_path / "t.parquet", "--score", "none").err
