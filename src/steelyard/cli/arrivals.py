"""Samples as they come in: a table that fills on a terminal, a line each in a log. Both go to stderr."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.cli.console import aside, shortened
from steelyard.cli.progress_display import TimeLeft, time_left_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from steelyard.sampling.ask.sample_stream import Draw

Key = tuple[int, str]  # of a sample: its number and its upstream


@contextmanager
def arrivals(samples: Mapping[str, int], kind: str, *, may_stop: bool = False) -> Iterator[Callable[[Draw], None]]:
    """Yield a function that shows a sample that came, one of so many of each upstream; `kind` is how it is read.

    A cascade `may_stop` before all are drawn, so that how many come is not known before.
    """
    from steelyard.answers.extract import kind_of
    from steelyard.answers.normal import normal_form
    from steelyard.sampling.ask.sample_votes import answer_of

    free = kind_of(kind).similarity is not None
    end = TimeLeft()
    end.at(0.0)
    expected = [(sample, source) for source, count in samples.items() for sample in range(count)]
    if not may_stop:
        expected.sort()
    n, limit = len(expected), "at most " if may_stop else ""
    received: dict[Key, Draw] = {}
    read: dict[Key, str | None] = {}

    def keep(draw: Draw) -> None:
        received[key_of(draw)] = draw
        answer = answer_of(draw, kind)
        read[key_of(draw)] = answer if answer and (free or normal_form(answer)) else None

    if not sys.stderr.isatty():

        def log(draw: Draw) -> None:
            keep(draw)
            left = "" if may_stop else time_left_text(end.at(len(received) / n))
            text = answer_text(draw, read[key_of(draw)])
            aside(f"{len(received)} of {limit}{n}: sample {numbered(*key_of(draw))}: {text}{left}")

        yield log
        return
    from rich.console import Console
    from rich.live import Live

    with Live(
        _drawn(expected, received, read, free=free), console=Console(stderr=True), transient=True, refresh_per_second=8
    ) as live:

        def show(draw: Draw) -> None:
            keep(draw)
            left = "" if may_stop else time_left_text(end.at(len(received) / n))
            live.update(_drawn(expected, received, read, left, free=free))

        yield show


def answer_text(draw: Draw, answer: str | None) -> str:
    """What a sample answers, in a few words."""
    if draw.choice is None:
        return f"failed: {draw.reason}"
    cut = " (cut off)" if draw.choice.finish == "length" else ""
    return ("no answer can be read" if answer is None else shortened(answer, 40)) + cut


def running(answers: list[str]) -> str:
    """How the answers stand so far, those with the same normal form together.

    >>> running(["1/2", "3", "0.5"])
    '1/2 ×2   3 ×1'
    """
    from steelyard.answers.grouping import group

    classes = group(answers).classes
    first = dict(zip(reversed(classes), reversed(answers), strict=True))
    return "   ".join(f"{shortened(first[k], 20)} ×{votes}" for k, votes in Counter(classes).most_common(6))


def key_of(draw: Draw) -> Key:
    """What tells a sample from the others: its number, and the upstream that gave it."""
    return draw.sample, draw.source


def numbered(sample: int, source: str | None) -> str:
    """The number of a sample, with its upstream where there are several.

    >>> numbered(3, ""), numbered(3, "llama")
    ('3', '3 of llama')
    """
    return f"{sample} of {source}" if source else str(sample)


def _drawn(
    expected: Sequence[Key], received: dict[Key, Draw], read: dict[Key, str | None], left: str = "", *, free: bool
) -> RenderableType:
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for column, wide in (("sample", False), ("answer", True), ("tokens", False), ("the response ends", True)):
        table.add_column(column, justify="left" if wide else "right", min_width=None if wide else 6, no_wrap=True)
    for key in expected:
        draw = received.get(key)
        if draw is None:
            table.add_row(numbered(*key), Text("…", style="dim"), "", "")
            continue
        tokens = "" if draw.choice is None or draw.choice.tokens is None else str(draw.choice.tokens)
        ending = draw.choice.text.strip()[-46:] if draw.choice else ""
        readable = read[key] is not None
        style = "bold" if readable else "yellow" if draw.choice else "red"
        table.add_row(
            numbered(*key), Text(answer_text(draw, read[key]), style=style), tokens, Text(shortened(ending, 46), "dim")
        )
    answers = [] if free else [answer for _, answer in sorted(read.items()) if answer is not None]
    count = f"{len(received)} of {len(expected)}{left}"
    return Group(table, Text(f"{count}   {running(answers)}" if answers else count))
