"""Tables and bars in the terminal: rules and colour on a terminal, aligned columns in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from steelyard.cli.console import plain, tell
from steelyard.evaluation.percentages import percent, points

if TYPE_CHECKING:
    import polars as pl

    from steelyard.voting.fitting.mixing import Mix

SHORT = 16  # characters: longer columns may end in … if there is no room


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, best: int | None = None, text: bool = False
) -> None:
    """Print a table: with rules and colour on a terminal, as aligned columns in a pipe.

    The first column is text, the others are numbers, or `text` too; row `best` stands out on a terminal.
    """
    title, columns = plain(title), [_cell(name) for name in columns]
    rows = [[_cell(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        draw(title, columns, rows, best=best, text=text)
        return
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    print(title)
    for row in (columns, *rows):
        cells = [
            cell.rjust(width) if i and not text else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    print()


def print_accuracies(result: pl.DataFrame, calibration: int, test: int, oracles: set[str]) -> None:
    """Print accuracy by method and n, with the error and the gain over majority at the largest n."""
    sizes = result["n"].unique().sort().to_list()
    rows: list[tuple[str, ...]] = []
    honest: list[tuple[float, int]] = []
    for (name,), group in result.group_by("method", maintain_order=True):
        by_size = {row["n"]: row for row in group.iter_rows(named=True)}
        last = by_size[sizes[-1]]
        gain = "" if name == "majority" else f"{points(last['gain'])} ± {percent(last['gain_se'])}"
        cells = [percent(by_size[size]["accuracy"]) for size in sizes]
        honest += [] if name in oracles else [(last["accuracy"] or 0.0, len(rows))]
        rows.append((str(name), *cells, f"± {percent(last['se'])}", gain))
    title = f"Accuracy in % by samples per question: {test} test questions, calibrated on {calibration} others"
    best = max(honest)[1] if honest else None
    print_table(title, ("method", *map(str, sizes), "error", "gain on majority"), rows, best=best)
    tell("error: standard error over questions at the largest n; gain: paired, ± its standard error.")
    tell(
        "Ties go to the higher total score, in majority too (in best-of-n to more votes): this matters most at small n."
    )
    if shown := sorted(oracles & {row[0] for row in rows}):
        tell(f"Oracles, which read the test labels: {', '.join(shown)}.")
    print()


def print_outcomes(result: pl.DataFrame) -> None:
    """Print the shares of correct, incorrect and not attempted verdicts at the largest n, if they are measured."""
    shares = ("accuracy", "incorrect", "not_attempted", "accuracy_attempted")
    if shares[-1] not in result.columns:
        return
    n = max(result["n"].to_list())
    last = result.filter(result["n"] == n).select("method", *shares)
    rows = [(name, *map(percent, values)) for name, *values in last.iter_rows()]
    heads = ("method", "correct", "incorrect", "not attempted", "correct of attempted")
    print_table(f"Verdicts in % at n = {n}", heads, rows)
    tell("not attempted: every response declined to answer, or the winning response was graded so.")
    print()


def print_mix(result: Mix) -> None:
    """Print the contribution of each score to a mixed score, largest first."""
    every = zip(result.shares.tolist(), result.names, result.coefficient.tolist(), result.notes(), strict=True)
    rows = [
        (name, percent(share), f"{c:.2f}", note)
        for share, name, c, note in sorted(every, key=lambda row: (-row[0], row[1]))
    ]
    print_table("What each score contributed", ("score", "share %", "per spread", ""), rows)
    tell(f"The score is {result.described()}.")
    if not result.shares.any():
        print("None of them separates correct from incorrect responses here: every score is worth the same.\n")


def print_weights(weight: Callable[[float], float], low: float = 0.0, high: float = 1.0, width: int = 21) -> None:
    """Draw the weight of each score as a bar: to the left it counts against the answer, to the right for it.

    Only scores near the calibration set, from `low` to `high`, are drawn: beyond them nothing was learned.
    """
    if len({weight(i / 10) for i in range(11)}) == 1:
        print("Every score is worth the same: this is the majority vote.\n")
        return
    first, last = round(10 * low), round(10 * high)
    if last - first < 2:  # close scores: the tenths around them
        first, last = max(0, first - 1), min(10, last + 1)
    scores = [i / 10 for i in range(first, last + 1)]
    weights = [weight(score) for score in scores]
    unit = max(map(abs, weights)) or 1.0
    against, support, plain = ("\x1b[38;5;208m", "\x1b[38;5;39m", "\x1b[0m") if sys.stdout.isatty() else ("", "", "")
    print("What a score is worth (left of the pivot: it counts against its answer)")
    print(f"score  {'against':>{width}} ▲ {'for':<{width}}  weight")
    for score, value in zip(scores, weights, strict=True):
        bar = "█" * round(abs(value) / unit * width) or ("▕" if value < 0 else "▏" if value else "")  # its sign is seen
        left, right = (bar, "") if value < 0 else ("", bar)
        print(f"{score:5.1f}  {against}{left:>{width}}{plain} │ {support}{right:<{width}}{plain}  {value:+6.2f}")
    if len(scores) < 11:
        print(f"The scores of the calibration set are between {low:.3f} and {high:.3f}.")
    print()


def draw(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, best: int | None, text: bool) -> None:
    """Print a table with rules; the first column is text, the others are numbers, or `text` too, which may wrap."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

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
    """Narrow the widest column until all fit, but no short column.

    >>> narrowed([40, 30, 5], 60), narrowed([12, 12], 10)
    ([27, 28, 5], [12, 12])
    """
    fitted = list(widths)
    while sum(fitted) > room and max(fitted) > SHORT:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def _cell(text: str) -> str:
    return plain(text).replace("\n", " ")
