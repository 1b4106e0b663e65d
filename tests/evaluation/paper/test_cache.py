"""Results are kept by content, and made again where they are damaged."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.paper.run_experiments import SHARED, SOURCE, Cache, code_hash, run_experiments
from tests.evaluation.paper.grids import SETTINGS


def test_a_second_run_reads_no_table_and_a_damaged_result_is_made_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "cache")
    source = GridSource.at(folder)
    first = run_experiments(["grid"], source, SETTINGS, cache)
    with monkeypatch.context() as patch:
        patch.setattr(GridSource, "load", lambda *_: pytest.fail("the grid was read again"))
        again = run_experiments(["grid"], source, SETTINGS, cache)
    assert again.results[0].rows.equals(first.results[0].rows)
    (kept,) = (tmp_path / "cache").glob("grid-*.parquet")
    kept.write_bytes(kept.read_bytes()[:50])
    assert run_experiments(["grid"], source, SETTINGS, cache).results[0].rows.equals(first.results[0].rows)
    assert pl.read_parquet(kept).equals(first.results[0].rows)


def test_other_settings_or_another_grid_are_other_results(folder: Path, tmp_path: Path) -> None:
    cache, source = Cache(tmp_path), GridSource.at(folder)
    cache.store("grid", source.key, SETTINGS, pl.DataFrame({"a": [1]}))
    assert cache.table("grid", source.key, SETTINGS) is not None
    assert cache.table("grid", source.key, Settings(seed=4)) is None
    assert cache.table("grid", GridSource.at(folder, quick=True).key, SETTINGS) is None
    assert cache.table("table1", source.key, SETTINGS) is None


def test_a_grid_made_of_pools_has_a_key_of_its_content(pool: sy.LabelledPool) -> None:
    first, same = (Grid.of({("a", "v"): (pool, None)}) for _ in range(2))
    other = Grid.of({("a", "v"): (pool.with_shuffled_scores(0), None)})
    assert first.key == same.key != other.key


def test_a_result_depends_on_every_folder_it_is_made_in() -> None:
    """A pattern that no file matches would let old results stand for new code."""
    for pattern in SHARED:
        assert list(SOURCE.glob(pattern)), pattern
    hashed = {file.relative_to(SOURCE).parts[0] for pattern in SHARED for file in SOURCE.glob(pattern)}
    folders = {file.name for file in SOURCE.iterdir() if (file / "__init__.py").exists()}
    assert folders - hashed == {"cli", "engine", "gateway", "plugins", "runs", "sampling", "testing"}


def test_a_result_depends_on_the_file_of_its_own_experiment() -> None:
    assert code_hash("table-self") != code_hash("no-such-experiment")
