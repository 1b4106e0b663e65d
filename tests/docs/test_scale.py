"""docs/scale-costs.md: its tables are those of the stored figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import ray_gpu_section, ray_ratios
from benchmarks.ray_ratios import Ratio
from docs import scale


def test_the_page_shows_what_the_stored_figures_make() -> None:
    assert scale.PAGE.read_text() == scale.page_with(scale.tables(scale.Machines())), "run 'python -m docs.scale'"


def test_a_cost_is_that_of_the_measured_rate_and_divides_by_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = json.loads(scale.GPU.read_text())["sizes"]
    rates = [cost.per_second for cost in scale.costs() if cost.gpu]
    assert rates == pytest.approx([size["responses_per_s"] for size in sizes])
    monkeypatch.setattr(scale, "costs", lambda: [scale.Cost("score", 3600.0, True, "x")])
    row = scale.tables(scale.Machines(8e6, (1, 2), cores=1, gpus=4)).splitlines()[-3]
    assert row == "| score | 2 h 00 min | 1 h 00 min |"


def test_a_figure_that_was_not_measured_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "BENCHMARKS", scale.GPU)
    with pytest.raises(SystemExit, match="make bench"):
        scale.costs()


def test_what_ray_takes_is_a_row_of_the_page_once_its_command_has_stored_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_ratios, "FILE", tmp_path / "ratios.json")
    assert scale.beside_processes(ray_ratios.stored()) == ""
    for seconds in (30.0, 22.0):
        Ratio("vote on 100 rows", "python -m benchmarks.ray_vote --rows 100", 20.0, seconds, 3, 390.4).store("vote")
    row = "| vote on 100 rows | 1.10 | 22.0 s | 20.0 s | 390 MB |  | `python -m benchmarks.ray_vote --rows 100` |"
    assert scale.beside_processes(ray_ratios.stored()).splitlines()[-1] == row
    assert row in scale.page_with("").splitlines()


def test_a_way_that_was_not_measured_on_a_gpu_is_no_row_and_scores_that_differ_are_said_to() -> None:
    def way(name: str, rate: float, largest: float) -> dict[str, object]:
        return {"way": name, "responses_per_s": rate, "against_first": {"correlation": 0.99, "largest": largest}}

    ways = [way("one process", 40.0, 0.0), way("ray, one worker", 41.25, 0.125)]
    sizes = [{"size": "1B", "responses": 64, "parts": 8, "ways": ways}]
    text = ray_gpu_section.section({"gpu": "GPU", "torch": "2", "ray": "3", "sizes": sizes})
    assert "| `--local --engine ray --gpus-per-worker 1 --workers 1` | 41.2 | 0.9900 |" in text
    assert "vLLM on that" not in text
    assert "within 0.125 of those of the process" in text
