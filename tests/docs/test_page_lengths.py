"""Guides stay short, evidence opens with a summary, and links lead to headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_docs import PAGES, ROOT

DOCS = ROOT / "docs"
GUIDES, WORDS = ("Start", "How to", "Concepts"), 15_000
SUMMARY_LINES = 10


def listed(section: str) -> list[Path]:
    """The pages of docs/ that a section of the index links."""
    text = (DOCS / "README.md").read_text().partition(f"**{section}**\n")[2].partition("\n**")[0]
    return [DOCS / name for name in re.findall(r"^- \[[^\]]*\]\(([\w-]+\.md)\)", text, re.MULTILINE)]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them in links."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_guides_have_at_most_15000_words_in_all() -> None:
    counts = {page.name: len(page.read_text().split()) for section in GUIDES for page in listed(section)}
    assert len(counts) > 10
    assert sum(counts.values()) <= WORDS, counts


@pytest.mark.parametrize("page", [p for p in listed("Evidence") if p.name != "alternatives.md"], ids=lambda p: p.name)
def test_an_evidence_page_opens_with_a_short_summary(page: Path) -> None:
    title, blank, *rest = page.read_text().splitlines()
    assert title.startswith("# ")
    assert not blank
    assert rest[0].startswith("**In short.**")
    assert rest.index("") <= SUMMARY_LINES
    summary = "\n".join(rest[: rest.index("")])
    assert re.search("±|standard\\serror|interval", summary), "the summary has no errors of its figures"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_to_a_heading_leads_to_one(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        linked = page.parent / target if target else page
        assert anchor in anchors(linked), f"{page.name}: {target}#{anchor}"
