"""With --json every verb prints one JSON object and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import steelyard as sy
from tests.running import steelyard


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("json") / "responses.parquet"
    sy.write(sy.simulate(60, 4, seed=3), path)
    return path


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        (("methods",), {"methods"}),
        (("score",), {"verifiers"}),
        (("reproduce",), {"experiments"}),
        (("grid",), {"llms", "verifiers"}),
        (("answers", "FILE"), {"rules", "unreadable"}),
        (("simulate", "-o", "OUT.parquet", "--questions", 5), {"table", "responses"}),
        (("report", "FILE", "--method", "majority", "-o", "OUT.html"), {"report", "bytes", "method"}),
    ],
)
def test_a_verb_prints_one_object(words: tuple[object, ...], holds: set[str], file: Path, tmp_path: Path) -> None:
    places = {"FILE": file, "OUT.parquet": tmp_path / "out.parquet", "OUT.html": tmp_path / "out.html"}
    done = steelyard(*(places.get(str(word), word) for word in words), "--json")
    assert done.code == 0, done.err
    assert holds <= set(json.loads(done.out))


@pytest.mark.long
def test_the_demo_prints_what_its_steps_found(tmp_path: Path) -> None:
    sy.write(sy.simulate(100, 64), tmp_path / "t.parquet")
    done = steelyard("demo", "-o", tmp_path / "demo", "--pair", tmp_path / "t.parquet", "--json")
    steps = json.loads(done.out)["steps"]
    assert [step["command"].split()[1] for step in steps] == ["evaluate", "fit", "vote", "report"]
    assert steps[2]["found"]["questions"] == 100
