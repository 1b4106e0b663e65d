"""The figures of local scoring on a GPU: the page shows what is stored, and writing one section keeps the others."""

from __future__ import annotations

import json

from benchmarks.__main__ import in_short, replaced, this_machine
from benchmarks.gpu_page import RESULTS, section, with_sections
from benchmarks.measuring import Row
from benchmarks.page_sections import PAGE, with_head, with_section


def test_the_page_shows_the_figures_that_are_stored() -> None:
    page = PAGE.read_text()
    assert with_sections(page) == page


def test_each_command_writes_its_own_part_of_the_page() -> None:
    page = "# Page\n\nhead\n\n## A\n\na\n\n## B\n\nb\n"
    assert with_head(page, "# Page\n\nother\n") == page.replace("head", "other")
    assert with_section(page, "A", "other") == page.replace("\na\n", "\nother\n")
    assert with_section(page, "B", "other") == page.replace("\nb\n", "\nother\n")
    assert with_section(page, "C", "c") == page + "\n## C\n\nc\n"


def test_a_goal_that_is_missed_is_shown_as_missed() -> None:
    stored = json.loads(RESULTS.read_text())
    for size in stored["sizes"]:
        size["gpu_busy"], size["responses_per_s"] = 1.0, size["goal"]
    assert "**no**" not in section(stored)
    for size in stored["sizes"]:
        size["gpu_busy"] = 0.5
    assert section(stored).count("**no**") == len(stored["sizes"])


def test_the_summary_counts_the_goals_of_every_section() -> None:
    quick, slow = "| quick | 1 ms | at most 2 ms | yes |", "| slow | 3 ms | at most 2 ms | **no** |"
    page = f"# Page\n\n{slow}\n\n## A\n\n{quick}\n{slow}\n"
    summary = in_short([Row("new", "1 s", "at most 2 s", True)], page)
    assert "2 of 3 goals are met" in summary
    assert "**Missed**: slow (3 ms, goal at most 2 ms)." in summary


def test_a_figure_that_was_measured_on_another_processor_names_it() -> None:
    stored = [Row("a", "1 s", "no goal", True), Row("b", "2 s", "no goal", True)]
    new = [Row("b", "3 s", "no goal", True), Row("c", "4 s", "no goal", True)]
    assert [row.figure for row in replaced(stored, new, this_machine())] == ["1 s", "3 s", "4 s"]
    processor = this_machine().split(",")[0]
    assert [row.figure for row in replaced(stored, new, "another, 2 cores")] == [
        "1 s", f"3 s, on {processor}", f"4 s, on {processor}",
    ]  # fmt: skip
