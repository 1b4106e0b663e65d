"""The code and the YAML of docs/plugins.md work as printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import CORRECT, INCORRECT, Score
from lm_eval.filters import build_filter_ensemble
from lm_eval.tasks._yaml_loader import load_yaml

import steelyard as sy

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a plan that reads no score."""
    monkeypatch.chdir(tmp_path)
    pool = sy.read_labelled(sy.simulate(60, 8, seed=1), score="score")
    sy.MajorityVote().fit(pool).save("plan.json")
    return tmp_path


def test_the_reducers_of_the_page_reduce(folder: Path) -> None:
    block = re.search(r"```python\n(from inspect_ai.*?)```", PAGE, re.DOTALL)
    assert block
    lines = [line.replace("Epochs(", "made += Epochs(").partition("  #")[0] for line in block[1].splitlines()]
    names: dict[str, list[object]] = {"made": []}
    exec("\n".join(re.sub(r"(made \+= Epochs\(.*\))\s*$", r"\1.reducer", line) for line in lines), names)
    scores = [
        Score(value={"correct": value, "prm": prm}, answer=answer)
        for answer, value, prm in (("1/2", CORRECT, 0.9), ("0.5", CORRECT, 0.8), ("7", INCORRECT, 0.2))
    ]
    assert len(names["made"]) == 3
    for reducer in names["made"]:
        reduced = reducer(scores)  # type: ignore[operator]
        assert reduced.answer == "1/2"
        assert reduced.value["correct"] == CORRECT


def test_the_filters_of_the_page_filter(folder: Path) -> None:
    block = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert block
    (folder / "task.yaml").write_text(block[1])
    task = load_yaml(folder / "task.yaml")
    for entry in task["filter_list"]:
        steps = [
            (step["function"], {key: value for key, value in step.items() if key != "function"})
            for step in entry["filter"]
        ]
        responses: list[Any] = [["The answer is 1/2.", "The answer is 7.", "It must be 0.5."]]
        for make in build_filter_ensemble(entry["name"], steps).filters:
            responses = list(make().apply(responses, [{}]))
        assert responses == ["1/2"]
    (metric,) = task["metric_list"]
    assert metric["metric"](references=["0.5"], predictions=["1/2"], answers=metric["answers"]) == 1.0
