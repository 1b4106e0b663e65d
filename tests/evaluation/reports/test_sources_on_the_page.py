"""The page of a committee: who errs with whom and what each source adds, only where there are sources."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.evaluation.reports.page import report
from steelyard.evaluation.reports.sentences import points
from steelyard.evaluation.reports.source_details import SourceDetails, short_names, sources_of, telling
from steelyard.evaluation.reports.source_figures import errors, errors_title, losses, losses_title
from steelyard.evaluation.reports.summary import open_case
from tests.committees import FIVE, committee, pool
from tests.running import steelyard

NASTY = "<img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of a committee without scores, of one with a nasty name, and of the same file without sources."""
    folder = tmp_path_factory.mktemp("sources")
    sy.write(committee(questions=200, copies={"bee2": "bee", NASTY: "cat"}), folder / "nasty.parquet")
    pages = {"page": folder / "page.html", "file": folder / "nasty.parquet", "plain": folder / "plain.html"}
    report([pages["file"]], pages["page"], source="llm", answers="exact")
    sy.write(sy.simulate(60, 4), folder / "plain.parquet")
    report([folder / "plain.parquet"], pages["plain"])
    return pages


def details(**options: Any) -> SourceDetails:
    found = sources_of(open_case("a file", pool(**options), "committee", share=0.5, seed=0), seed=0)
    assert found is not None
    return found


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for data in spec["datasets"].values() for row in data]


def stored(page: Path, name: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(found[1]) if found else None


def test_both_pictures_are_there_only_where_there_are_sources(made: dict[str, Path]) -> None:
    for name in ("chart-errors-0-0", "chart-losses-0-0"):
        assert stored(made["page"], name)
        assert stored(made["plain"], name) is None
    assert "Who errs with whom" in made["page"].read_text()
    assert "Who errs with whom" not in made["plain"].read_text()


def test_a_committee_without_scores_has_a_page_without_scores(made: dict[str, Path]) -> None:
    text = made["page"].read_text()
    assert "What a score is worth" not in text
    assert stored(made["page"], "chart-weights-0-0") is None
    methods = {row.get("method") for row in rows_of(stored(made["page"], "chart-curves-0-0"))}
    assert {"majority", "consensus", "committee", "pass-at-n"} <= methods
    assert "vanilla" not in methods


def test_the_ballots_say_who_answered(made: dict[str, Path]) -> None:
    ballots = stored(made["page"], "ballots-0")
    assert set(FIVE) <= set(ballots["sources"])
    assert not ballots["scored"]
    assert all(sorted(q["u"]) == list(range(7)) for q in ballots["questions"])


def test_names_of_sources_are_escaped(made: dict[str, Path]) -> None:
    assert NASTY not in made["page"].read_text()
    assert html.escape(NASTY) in made["page"].read_text()


def test_the_command_writes_the_page_of_a_committee(made: dict[str, Path], tmp_path: Path) -> None:
    done = steelyard("report", made["file"], "--source", "llm", "--answers", "exact", "-o", tmp_path / "r.html")
    assert done.code == 0, done.err


def test_the_pair_of_copies_is_named_with_its_share() -> None:
    found = details(questions=300, copies={"bee2": "bee"})
    assert found.pair is not None
    assert {found.pair.first, found.pair.second} == {"bee", "bee2"}
    assert found.pair.share == 1
    assert found.pair.expected < 0.5
    assert "give the same answer in 100 % of" in errors_title(found)


def test_no_pair_is_named_where_none_stands_out() -> None:
    assert details(questions=200).pair is None


def test_the_pictures_have_the_figures_of_the_table() -> None:
    found = details(questions=200)
    drawn = {row["source"]: row for row in rows_of(losses(found)) if "source" in row}
    assert list(drawn) == telling(found)
    for name, row in drawn.items():
        assert row["lost"] == pytest.approx(100 * float(found.lost[name]), abs=1e-4)
        assert row["weight"] == pytest.approx(found.weights[name], abs=1e-4)
    cells = {(row["source"], row["other"]): row for row in rows_of(errors(found))}
    ant, eel = (found.agreement.names.index(name) for name in ("ant", "eel"))
    assert cells["eel", "ant"]["share"] == cells["ant", "eel"]["share"]
    assert cells["ant", "eel"]["share"] == pytest.approx(found.agreement.share[ant, eel], abs=1e-4)
    assert cells["ant", "eel"]["both"] == found.agreement.both[ant, eel]


def test_the_source_that_is_missed_most_is_named() -> None:
    found = details(questions=300)
    assert losses_title(found).startswith(
        f"Without ant the committee vote loses {points(found.lost['ant'])[1:]} points"
    )


def test_of_many_sources_the_heaviest_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.evaluation.reports.source_details.MOST", 2)
    found = details(questions=200)
    assert list(found.weights) == ["ant", "bee"]
    assert sorted(found.order) == ["ant", "bee"]
    assert found.sources == len(FIVE)


def test_two_sources_are_enough_for_a_page() -> None:
    found = details(reliability={"ant": 0.8, "bee": 0.5}, questions=80)
    assert list(found.lost) == ["ant", "bee"]


def test_short_names_stay_apart() -> None:
    names = ["a" * 40 + "x" * 40, "a" * 40 + "y" + "x" * 39, "b"]
    assert len(set(short_names(names, 28).values())) == 3
