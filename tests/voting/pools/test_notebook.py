"""What a notebook shows: small tables, whatever the texts in them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import polars as pl
import pytest

import steelyard as sy
from tests.building import Labelled

NASTY = "<script>alert('&')</script>"
ALLOWED = {"table", "caption", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data}|"


def shown(thing: object) -> Tags:
    page = Tags(thing._repr_html_())  # type: ignore[attr-defined]
    assert page.tags <= ALLOWED
    assert not page.open
    return page


@pytest.fixture(scope="module")
def nasty() -> sy.LabelledPool:
    """A file whose every text is markup."""
    columns = {"question": NASTY, "answer": [NASTY, NASTY, "7"], "correct": [True, True, False], "llm": NASTY}
    table = pl.DataFrame({**columns, NASTY: [0.5, 0.25, 1.0]})
    return sy.read_labelled(table, score=NASTY, answers="exact")


def test_the_texts_of_a_table_are_shown_and_never_obeyed(nasty: sy.LabelledPool) -> None:
    for thing in (nasty, nasty.unlabelled(), sy.VanillaVote().predict(nasty)):
        assert NASTY in shown(thing).text
    ballot = sy.Ballot(sy.MajorityVote(), answers="exact")
    ballot.add(NASTY)
    assert NASTY in shown(ballot).text


def test_a_pool_tells_its_sizes_and_a_labelled_one_its_accuracy(cal: Labelled) -> None:
    text = shown(cal).text
    assert "LabelledPool|questions|120|responses|1,920|responses per question|16|" in text
    assert re.search(r"correct\|\d\d\.\d% of the responses", text)
    assert "correct" not in shown(cal.unlabelled()).text


def test_verdicts_show_the_first_ten(test: Labelled) -> None:
    verdicts = sy.MajorityVote().predict(test)
    page = verdicts._repr_html_()
    assert page.count("<tr>") == 1 + 10
    first = verdicts.to_polars().row(0, named=True)
    cells = f"{first['question']}|{first['answer']}|-|{first['share']:.3f}|"
    assert f"question|answer|confidence|share|margin|votes|responses|{cells}" in shown(verdicts).text


def test_a_ballot_shows_how_the_question_stands() -> None:
    ballot = sy.Ballot(sy.MajorityVote())
    assert "waiting for sample 0" in shown(ballot).text
    ballot.add("7")
    assert "Ballot by MajorityVote()|verdict|7|share|1.000|" in shown(ballot).text  # a majority has no confidence
    assert repr(ballot) == "Ballot(MajorityVote(), samples 1, verdict '7')"


def test_curves_show_accuracy_by_method_and_n(cal: Labelled, test: Labelled) -> None:
    found = sy.evaluation.curves(["majority", "logit"], cal, test, n=[4, 16], resamples=2)
    text = shown(found).text
    assert "method|4|16|majority|" in text
    assert f"|{100 * found.accuracy[1, 1]:.1f} ± {100 * found.se[1, 1]:.1f}|" in text
