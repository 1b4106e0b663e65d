"""What the user sees: tables that align, progress on a terminal, plain text in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from steelyard.cli.time_left import NowAndThen, TimeLeft, left_words
from steelyard.evaluation.percentages import percent, points

if TYPE_CHECKING:
    import polars as pl

    from steelyard.voting.fitting.mixing import Mix

QUIET = 10.0  # seconds between lines of progress in a log


def plain(text: str) -> str:
    r"""Show what a terminal would obey, or what would turn a line around, as what it is.

    Names, answers and file names come from outside: all that is printed goes through here.

    >>> plain("\x1b]0;owned\x07"), plain("a\tb")
    ('\\x1b]0;owned\\x07', 'a b')
    """
    if text.isprintable():
        return text
    return "".join(
        char if char == "\n" or char.isprintable() else " " if char.isspace() else ascii(char)[1:-1] for char in text
    )


def say(text: str = "") -> None:
    """Print a line of text."""
    print(plain(text))


def tell(text: str) -> None:
    """Print whole sentences, on a terminal without breaking a word."""
    import shutil
    import textwrap

    text = plain(text)
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() else max(1, len(text))
    print(textwrap.fill(text, wide, break_long_words=False, break_on_hyphens=False))


def aside(text: str) -> None:
    """Print a line of text beside the output, on stderr."""
    print(plain(text), file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Say beside the output, on stderr, what the user must know."""
    aside(f"note: {text}")


def as_json(content: Any) -> None:
    """Print one JSON object."""
    print(json.dumps(content, indent=2, allow_nan=False))


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, best: int | None = None, text: bool = False
) -> None:
    """Print a table: with rules and colour on a terminal, as aligned columns in a pipe.

    The first column is text, the others are numbers, or `text` too; row `best` stands out on a terminal.
    """
    title, columns = plain(title), [_cell(name) for name in columns]
    rows = [[_cell(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from steelyard.cli.terminal_table import draw

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


def _cell(text: str) -> str:
    return plain(text).replace("\n", " ")


def accuracy_table(result: pl.DataFrame, calibration: int, test: int, oracles: set[str]) -> None:
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
    table(title, ("method", *map(str, sizes), "error", "gain on majority"), rows, best=best)
    tell("error: standard error over questions at the largest n; gain: paired, ± its standard error.")
    tell("Ties go to the higher total score, in majority too (in best-of-n to more votes): at small n that is much.")
    if shown := sorted(oracles & {row[0] for row in rows}):
        tell(f"Oracles, which read the test labels: {', '.join(shown)}.")
    print()


def mix(found: Mix) -> None:
    """Print what each of several scores contributed to the one they were mixed into, the most first."""
    every = zip(found.shares.tolist(), found.names, found.coefficient.tolist(), found.notes(), strict=True)
    rows = [
        (name, percent(share), f"{c:.2f}", note)
        for share, name, c, note in sorted(every, key=lambda row: (-row[0], row[1]))
    ]
    table("What each score contributed", ("score", "share %", "per spread", ""), rows)
    if not found.shares.any():
        print("None of them tells correct from incorrect responses here: every score is worth the same.\n")


def step(command: str) -> None:
    """Show the command that comes next."""
    command = plain(command)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        Console().print(Text(f"\n$ {command}\n", style="bold cyan"), soft_wrap=True)
    else:
        print(f"\n$ {command}\n")


def beam(weight: Callable[[float], float], low: float = 0.0, high: float = 1.0, width: int = 21) -> None:
    """Draw what a score is worth: a bar to the left counts against the answer, to the right for it.

    Only scores near those that were seen, from `low` to `high`, are drawn: beyond them nothing was learned.
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


@contextmanager
def progress(what: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows the share of work done: a bar on a terminal, a line now and then in a log."""
    what = plain(what)
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def waiting(what: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that is told the seconds so far: a spinner on a terminal, a line now and then in a log."""
    what = plain(what)
    if not sys.stderr.isatty():
        line = NowAndThen(QUIET)
        yield lambda seconds: aside(f"{what}: {seconds:.0f} s") if line.due(None) else None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(what)) as status:
        yield lambda seconds: status.update(f"{escape(what)}: {seconds:.1f} s")


def _lines(what: str) -> Callable[[float], None]:
    """Print to stderr how long the work will take, as soon as that is known, and how far it is now and then."""
    line, end = NowAndThen(QUIET), TimeLeft()

    def show(share: float) -> None:
        left = end.at(share)
        if line.due(left):
            aside(f"{what}: {100 * share:.0f} %{left_words(left)}")

    return show


def value(item: object) -> str:
    """Format a fitted value or a setting, numbers to four digits.

    >>> value(0.30400699), value(32), value("bagged")
    ('0.304', '32', 'bagged')
    """
    return f"{item:.4g}" if isinstance(item, float) else str(item)


def shortened(text: str, most: int = 80) -> str:
    """Cut a long text, and show what would break a line as what it is.

    >>> shortened("a" * 9 + chr(10), most=5)
    'aaaa…'
    """
    plain = "".join(char if char.isprintable() else " " for char in text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"
