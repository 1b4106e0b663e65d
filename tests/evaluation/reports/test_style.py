"""How a page draws and names a method: as its class says, else by its name."""

from __future__ import annotations

from typing import ClassVar

import pytest

import steelyard as sy
from steelyard.evaluation.reports.html_parts import swatch
from steelyard.evaluation.reports.sentences import named
from steelyard.foundation.charts.chart_style import RESERVE
from steelyard.voting.method_colours import colour

COLOURS = {
    "majority": "#7f7f7f",
    "best-of-n": "#e69f00",
    "vanilla": "#56b4e9",
    "linear": "#009e73",
    "logit": "#0072b2",
    "kde": "#cc79a7",
    "calibrated": "#d55e00",
    "platt": "#f0a070",
    "pass-at-n": "#bbbbbb",
    "optimal": "#b8a000",
    "optimal-crossfit": "#8c7a00",
    "kde-optimal-llm": "#e3a9c9",
    "kde-optimal-prm": "#a35a86",
}
LABELS = {"majority": "majority vote", "best-of-n": "best-of-N", "vanilla": "the vanilla vote", "pass-at-n": "pass@N"}


class Plain(sy.VanillaVote):
    """It says nothing of its looks."""


class Dressed(sy.VanillaVote):
    label: ClassVar[str | None] = "the dressed vote of ours"
    colour: ClassVar[str | None] = "#123456"


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two methods of other packages beside the built-in ones."""
    more = {"plain": Plain, "dressed": Dressed}
    monkeypatch.setattr("steelyard.voting.method_colours.method_names", lambda: (*sy.method_names(), *more))
    for module in ("voting.method_colours", "evaluation.reports.sentences"):
        monkeypatch.setattr(f"steelyard.{module}.method_class", lambda name: more.get(name) or sy.method_class(name))


def test_built_in_methods_keep_their_colours_and_labels() -> None:
    assert {name: colour(name) for name in COLOURS} == COLOURS
    assert {name: named(name) for name in COLOURS} == {name: f"the {name} vote" for name in COLOURS} | LABELS


def test_a_method_is_drawn_and_named_as_its_class_says() -> None:
    assert (colour("dressed"), named("dressed")) == ("#123456", "the dressed vote of ours")
    assert "background:#123456" in swatch("dressed")


def test_a_method_that_says_nothing_has_a_colour_in_reserve_and_not_that_of_its_parent() -> None:
    assert colour("plain") in RESERVE
    assert colour("plain") == colour("plain")
    assert named("plain") == "the plain vote"
    assert not set(RESERVE) & set(COLOURS.values())
