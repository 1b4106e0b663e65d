"""The figures on the page about calibration are those of the evidence."""

from __future__ import annotations

import re

from tests.docs.test_docs import ROOT

PAGE, EVIDENCE = (" ".join((ROOT / "docs" / name).read_text().split()) for name in ("calibration.md", "accuracy.md"))


def figures(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text)
    assert match, pattern
    return match.groups()


def test_the_gain_of_poor_scores() -> None:
    pattern = r"the (\d+) pairs whose AUROC within questions is below ([\d.]+) gain (\S+) points on average"
    assert figures(pattern, PAGE) == figures(pattern, EVIDENCE)


def test_the_mean_gain() -> None:
    pairs, gain = figures(r"the mean over all (\d+) is ([+\d.]*\d)", PAGE)
    assert f"measured on {pairs} pairs" in EVIDENCE
    assert (gain,) == figures(r"on the grid: (\S+) ± \S+ points with 50 calibration questions", EVIDENCE)


def test_the_loss_with_scores_dealt_at_random() -> None:
    loss, error = figures(r"20 labels lose ([\d.]+) ± ([\d.]+) points", PAGE)
    row = r"the grid, \d+ pairs \| dealt at random \| 20 \| -([\d.]+) ± ([\d.]+) "
    assert (loss, error) == figures(row, EVIDENCE)
