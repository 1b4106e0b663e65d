"""What the experiments say: a finding follows from the rows, and the stored results are those of the grid."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from docs.reproduction import reproduction_page, results
from steelyard.evaluation.paper.experiment import experiment, experiment_names
from steelyard.evaluation.paper.measuring import ALL, accuracies
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.paper.run_experiments import Reproduction, Result
from tests.building import labelled
from tests.evaluation.paper.grids import SETTINGS


@pytest.mark.experiments
@pytest.mark.parametrize("name", experiment_names())
def test_every_experiment_is_made_and_says_what_it_found(name: str, made: Reproduction) -> None:
    result = next(result for result in made.results if result.name == name)
    assert result.missing is None
    assert result.rows.height
    assert len(result.finding.title) < 110
    assert re.search(r"\d", result.finding.ours)
    assert (result.experiment.show is None) != (result.experiment.draw is None)


@pytest.mark.experiments
def test_where_verifiers_discriminate_the_main_findings_hold_and_on_noise_they_do_not() -> None:
    pools = [labelled(sy.simulate(400, 16, seed=seed, world=sy.testing.World(gap=2.5))) for seed in (1, 2)]
    strong = Grid.of({(f"m{i}", "v"): (pool, None) for i, pool in enumerate(pools)})
    noise = Grid.of({(f"m{i}", "v"): (pool.with_shuffled_scores(0), None) for i, pool in enumerate(pools)})
    for name in ("table1", "table-compute", "fig-offset"):
        for grid, holds in ((strong, True), (noise, False)):
            assert experiment(name).find(experiment(name).measure(grid, SETTINGS)).holds is holds, (name, holds)


def test_a_finding_changes_with_the_rows() -> None:
    """The verdict is computed, not written down: a grid where logit wins says so."""
    stored = next(result for result in results() if result.name == "table1").rows
    logit_row = pl.col("method") == "logit"
    lifted = stored.with_columns(
        [pl.when(logit_row).then(pl.lit(value)).otherwise(pl.col(name)).alias(name) for name, value in
         (("accuracy", 0.99), ("over_vanilla", 0.3), ("over_vanilla_se", 0.01))]
    )  # fmt: skip
    assert Result("table1", lifted).finding.holds is True
    sunk = stored.with_columns(pl.when(logit_row).then(0.01).otherwise(pl.col("accuracy")).alias("accuracy"))
    assert Result("table1", sunk).finding.holds is False


def test_the_page_in_the_docs_is_made_from_the_stored_results() -> None:
    page = Path(__file__).parents[3] / "docs" / "reproduction.md"
    assert page.read_text() == reproduction_page(results()), "run 'python -m docs.reproduction'"


def test_the_stored_results_are_those_of_the_bundled_grid() -> None:
    stored = next(result for result in results() if result.name == "table1").rows
    llm, verifier = stored.row(0)[:2]
    found = pl.DataFrame(
        accuracies(Pair(llm, verifier, sy.paper.load_grid(llm, verifier)), ALL, Settings(), stored["n"][0])
    )
    kept = stored.filter((pl.col("llm") == llm) & (pl.col("verifier") == verifier))
    for name in ("accuracy", "sd", "se"):
        assert kept[name].to_numpy() == pytest.approx(found[name].to_numpy()), "run 'python -m docs.reproduction'"
