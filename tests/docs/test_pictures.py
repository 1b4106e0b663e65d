"""The diagrams show what the code has: the import contract, and weights that were really learned."""

from __future__ import annotations

import re

import pytest

import steelyard as sy
from docs.pictures.architecture import architecture, layers, purposes
from docs.pictures.decision import decision
from docs.pictures.weights import PAIR, N, answers, fitted, share_correct
from tests.docs.test_docs import ROOT

DOCS = ROOT / "docs"
WEIGHTS = (DOCS / "weights.md").read_text()


@pytest.mark.parametrize(("name", "drawn"), [("architecture", architecture()), ("decision", decision())])
def test_the_picture_is_current(name: str, drawn: str) -> None:
    assert (DOCS / f"{name}.svg").read_text() == drawn, "run 'python -m docs.pictures'"


def test_the_architecture_has_every_folder_in_the_order_of_the_import_contract() -> None:
    heights = {name: float(y) for y, name in re.findall(r"y='([\d.]+)'[^>]*font-weight='600'>([^<]+)<", architecture())}
    drawn = sorted(heights, key=lambda name: heights[name])
    assert [name.rstrip("/") for name in drawn] == [layer.replace(" |", ",") for layer in layers()]
    folders = {path.parent.name for path in (ROOT / "src" / "steelyard").glob("*/__init__.py")}
    assert folders <= {name.strip() for layer in layers() for name in layer.split("|")}
    assert set(purposes()) == {layer for layer in layers() if "|" not in layer}


def test_the_question_in_the_picture_is_decided_correctly_by_negative_weights_alone() -> None:
    wrong, right = answers()
    assert (wrong.correct, right.correct) == (False, True)
    for rule in ("majority: votes", "vanilla: sum of scores"):
        assert wrong.rules[rule] > right.rules[rule]
    assert wrong.rules["logit: sum of weights"] < 0 < right.rules["logit: sum of weights"]


def test_the_picture_and_the_page_show_what_was_learned() -> None:
    wrong, right = answers()
    picture = (DOCS / "weights.svg").read_text()
    assert wrong.label in picture
    assert right.label in picture
    text = " ".join(WEIGHTS.split())
    vote, _ = fitted()
    assert f"b = {vote.b:.2f}" in text
    total = wrong.rules["logit: sum of weights"]
    assert f"{wrong.votes} × {wrong.score:.2f} = {wrong.votes * wrong.score:.2f}" in text
    assert f"total {total:.2f}" in text
    assert f"only {share_correct(0.13, 0.23):.0%}".replace("%", " %") in text
    assert f"against {share_correct(0, 1):.0%} of all".replace("%", " %") in text


def test_the_accuracies_on_the_page_are_those_of_the_pair() -> None:
    calibration, test = sy.read_labelled(PAIR).split(0.3, seed=0)
    figures = re.search(
        r"majority vote decides ([\d.]+) %.*?vanilla ([\d.]+) %, logit\s+([\d.]+) %.*?([\d.]+) %", WEIGHTS, re.DOTALL
    )
    assert figures
    methods = (sy.MajorityVote(), sy.VanillaVote(), sy.LogitVote(), sy.CalibratedVote())
    for method, figure in zip(methods, figures.groups(), strict=True):
        vote = method.fit(calibration.first(N))
        assert 100 * sy.accuracy(vote.predict(test.first(N)), test.first(N)) == pytest.approx(float(figure), abs=0.2)
