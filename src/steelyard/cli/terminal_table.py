"""A table on a terminal: wide where there is room, tight where there is little; no number is ever cut."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

SHORT = 16  # characters: what is longer may end in … where there is no room


def draw(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, best: int | None, text: bool) -> None:
    """Print a table with rules; the first column is text, the others are numbers, or `text` too, which may wrap."""
    console = Console()
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    roomy = text or sum(widths) + 3 * len(widths) + 1 <= console.width
    fitted = widths if roomy else narrowed(widths, console.width - len(widths) - 1)
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1) if roomy else 0)
    for i, (column, width) in enumerate(zip(columns, fitted, strict=True)):
        drawn.add_column(
            Text(column),
            justify="right" if i and not text else "left",
            no_wrap=not text,
            overflow="fold" if text else "ellipsis",
            width=None if text else width,
        )
    for i, row in enumerate(rows):
        drawn.add_row(*map(Text, row), style="bold green" if i == best else None)
    console.print(Text(title, style="bold"))
    if not text:  # a terminal that is narrower still breaks the lines, which loses nothing
        console.width = max(console.width, sum(fitted) + len(fitted) + 1)
    console.print(drawn)


def narrowed(widths: Sequence[int], room: int) -> list[int]:
    """Take from the widest column until all fit, but from none that is short.

    >>> narrowed([40, 30, 5], 60), narrowed([12, 12], 10)
    ([27, 28, 5], [12, 12])
    """
    found = list(widths)
    while sum(found) > room and max(found) > SHORT:
        found[found.index(max(found))] -= 1
    return found
