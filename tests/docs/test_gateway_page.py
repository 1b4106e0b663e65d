"""The figures of the gateway: the page shows what is stored, and says what a peer loses."""

from __future__ import annotations

from benchmarks.gateway_page import TITLE, section, stored
from benchmarks.page_sections import PAGE, with_section


def test_the_page_shows_the_figures_of_the_gateway_that_are_stored() -> None:
    page = PAGE.read_text()
    assert with_section(page, TITLE, section(*stored())) == page


def test_rows_of_the_load_come_with_their_goals_and_peers_as_ratios() -> None:
    where = {"where": "aarch64, 2 cores", "load": 0.1}
    row = {"what": "memory", "figure": "300 MB", "goal": "at most 200 MB", "met": False}
    peer = {"name": "its", "p50": 1.5, "cpu_ms": 9.0, "memory": 50.0, "lost": 0, "lost_of_failing": 7, "asked": 10}
    peer["samples_of_failing"] = 6.96
    left = {"what": "leaves", "figure": "p99 9 ms", "goal": "at most 250 ms", "met": True}
    leaving = {**where, "leaves": 7, "rows": [left]}
    text = section(
        {**where, "rows": [row]}, leaving, {**where, "clients": 2, "each": 5, "rows": [peer | {"cpu_ms": 3.0}, peer]}
    )
    assert "| memory | 300 MB | at most 200 MB | **no** |" in text
    assert "--leaves 7" in text
    assert "| leaves | p99 9 ms | at most 250 ms | yes |" in text
    assert "| its | 1.50 x | 3.0 x | 50 MB | 0 of 10 | 7 of 10 | 7.0 |" in text
