"""docs/mixing.md: the page is made of the stored figures, and these reach their goals."""

from __future__ import annotations

import polars as pl

from docs.mixing.page import HERE, text


def test_the_page_is_made_of_the_stored_figures() -> None:
    assert (HERE.parent / "mixing.md").read_text() == text()


def test_few_labels_beat_every_single_verifier() -> None:
    table = pl.read_csv(HERE / "rewardmath.csv")
    for labels, goal in ((20, 0.486), (50, 0.539), (100, 0.563)):
        assert table.filter(way="calibrated mix", labels=labels)["accuracy"][0] >= goal


def test_the_mix_without_labels_is_nowhere_below_the_mean() -> None:
    grid = pl.read_csv(HERE / "grid.csv")
    parts = [pl.read_csv(HERE / "rewardmath.csv"), *(part for _, part in grid.group_by("verifiers"))]
    for table in parts:
        assert table.filter(way="covariance")["accuracy"][0] >= table.filter(way="mean")["accuracy"][0]
