"""The figures of the gateway: the page shows what is stored, and says what a peer loses."""

from __future__ import annotations

import json

from benchmarks.gateway_page import LOAD, PEERS, TITLE, section
from benchmarks.page_sections import PAGE, with_section


def test_the_page_shows_the_figures_of_the_gateway_that_are_stored() -> None:
    page = PAGE.read_text()
    stored = [json.loads(path.read_text()) if path.exists() else None for path in (LOAD, PEERS)]
    assert with_section(page, TITLE, section(*stored)) == page


def test_rows_of_the_load_come_with_their_goals_and_peers_as_ratios() -> None:
    where = {"where": "aarch64, 2 cores", "load": 0.1}
    row = {"what": "memory", "figure": "300 MB", "goal": "at most 200 MB", "met": False}
    peer = {"name": "its", "p50": 1.5, "cpu_ms": 9.0, "memory": 50.0, "lost": 0, "lost_of_failing": 7, "asked": 10}
    text = section({**where, "rows": [row]}, {**where, "clients": 2, "each": 5, "rows": [peer | {"cpu_ms": 3.0}, peer]})
    assert "| memory | 300 MB | at most 200 MB | **no** |" in text
    assert "| its | 1.50 x | 3.0 x | 50 MB | 0 of 10 | 7 of 10 |" in text
