"""docs/leaderboard.md: the page and its picture are made of the stored figures, which cover every method."""

from __future__ import annotations

import pytest

import steelyard as sy
from docs.leaderboard.__main__ import HERE, main
from docs.leaderboard.page import SCORED, overall, picture, stored, text


def test_the_page_and_its_picture_are_made_of_the_stored_figures(capsys: pytest.CaptureFixture[str]) -> None:
    page, drawn = HERE.parent / "leaderboard.md", HERE.parent / "leaderboard.svg"
    before = page.read_text(), drawn.read_text()
    assert before == (text(), picture())
    main([])
    assert "written" in capsys.readouterr().out
    assert before == (page.read_text(), drawn.read_text())


@pytest.mark.parametrize("name", SCORED)
def test_every_method_was_measured_at_every_size_and_number_of_labels(name: str) -> None:
    table = stored(name)
    kinds = {method: sy.method_class(method) for method in sy.method_names()}
    usual = {method for method, kind in kinds.items() if not (kind.oracle or kind.weighs_sources)}
    for (labels, n), part in table.group_by("labels", "n"):
        expected = {method for method in usual if labels or not kinds[method].learns}
        assert set(part["method"]) == expected, (labels, n)
    assert set(table["labels"]) == {0, 50, 200}
    assert set(table["n"]) == {4, 16, 64}


def test_sets_of_several_llms_have_the_methods_that_need_no_scores() -> None:
    table = stored("committees")
    assert set(table.filter(labels=0)["method"]) == {"majority", "consensus"}
    assert set(table.filter(labels=50)["method"]) == {"majority", "consensus", "committee"}
    assert table.filter(labels=50, n=16)["sets"].to_list() == [4, 4, 4]


@pytest.mark.parametrize("groups", [SCORED, ("committees",)])
def test_the_default_is_at_most_a_quarter_point_below_any_other_method(groups: tuple[str, ...]) -> None:
    table = overall(groups)
    assert table["difference"].max() < 0.0025  # type: ignore[operator]
    assert table.filter("default")["gain"].min() > 0  # type: ignore[operator]
