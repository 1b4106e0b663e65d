"""One run of every experiment on a small simulated grid."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.paper.experiment import experiment_names
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.run_experiments import Cache, Reproduction, run_experiments
from tests.building import labelled
from tests.evaluation.paper.grids import SETTINGS, responses, wrote


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wrote(tmp_path_factory.mktemp("grid"), alpha=responses(1), beta=responses(2))


@pytest.fixture(scope="session")
def made(folder: Path) -> Reproduction:
    return run_experiments(list(experiment_names()), GridSource.at(folder), SETTINGS, Cache(None))


@pytest.fixture(scope="session")
def rows(made: Reproduction) -> dict[str, pl.DataFrame]:
    return {result.name: result.rows for result in made.results}


@pytest.fixture(scope="session")
def pool() -> sy.LabelledPool:
    """alpha as judged by prm_a, read without the grid."""
    return labelled(responses(1), score="prm_a")
