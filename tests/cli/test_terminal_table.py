"""What is shown on a terminal: numbers are never cut, words never broken, colours never spelled out."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

import pytest

from steelyard.cli import console, text_tables
from steelyard.cli.diagnosis import GOOD, Finding
from steelyard.cli.doctor import _say
from steelyard.cli.verbs import VERBS
from tests.running import steelyard


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal of 80 columns."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    return shown


def without_colours(terminal: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())


def test_a_table_of_many_numbers_is_drawn_tighter_and_none_of_them_is_cut(terminal: io.StringIO) -> None:
    sizes = [str(2**k) for k in range(7)]
    row = ["optimal-crossfit", *(f"{43.1 + k:.1f}" for k in range(7)), "± 3.5", "+12.6 ± 2.5"]
    with redirect_stdout(terminal):
        text_tables.print_table("Accuracy", ["method", *sizes, "error", "gain on majority"], [row])
    lines = without_colours(terminal).splitlines()
    assert any(line.split() == " ".join(row).split() for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_long_text_is_cut_before_any_number(terminal: io.StringIO) -> None:
    with redirect_stdout(terminal):
        text_tables.print_table("Verdicts", ["question", "answer", "votes"], [["q" * 40, "a" * 60, "12.75"]])
    shown = without_colours(terminal)
    assert "12.75" in shown
    assert "…" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_table_wider_than_the_terminal_keeps_all_numbers(terminal: io.StringIO) -> None:
    cells = [f"{k}.25" for k in range(100, 130)]
    with redirect_stdout(terminal):
        text_tables.print_table("Wide", ["method", *cells], [["majority", *cells]])
    assert all(cell in terminal.getvalue() for cell in cells)


def test_the_help_of_an_option_without_a_value_shows_none() -> None:
    for words in ((), ("evaluate",)):
        assert "<bool>" not in steelyard(*words, "--help").out


def test_sentences_break_between_words_on_a_terminal(terminal: io.StringIO) -> None:
    with redirect_stdout(terminal):
        console.tell("calibrated " * 20)
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 2
    assert set(" ".join(lines).split()) == {"calibrated"}


def test_sentences_stay_on_one_line_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    console.tell("calibrated " * 20)
    assert capsys.readouterr().out.count("\n") == 1


def test_the_doctor_colours_its_words_and_spells_out_what_came_from_outside(terminal: io.StringIO) -> None:
    with redirect_stdout(terminal):
        _say(Finding("disk", GOOD, "free at \x1b]0;owned\x07"))
    assert terminal.getvalue() == "\x1b[32mok  \x1b[0m  disk       free at \\x1b]0;owned\\x07\n"


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_is_whole_on_80_columns(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    shown = steelyard(verb, "--help").out
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
