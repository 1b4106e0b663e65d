"""steelyard leaderboard: every method on several sets of labelled responses, ranked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.completion import complete_table
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.text_tables import print_table
from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    import polars as pl

    from steelyard.evaluation.leaderboards import ResponseSet

SIGNIFICANT = 0.05
UNSET: tuple[Any, ...] = (None, {}, "auto", "majority")  # the defaults of the options about files
EXAMPLE = (
    "Example (the bundled pairs): steelyard leaderboard\n\n"
    "Example (each LLM of a file is a set): "
    "steelyard leaderboard labelled.parquet --by llm --score prm -n 4,8 --label-counts 0,50"
)


def run(
    files: Annotated[
        list[Path] | None,
        opt.argument(
            "[FILE]...",
            "Labelled responses, each file a set of its own. Default: all bundled pairs of an LLM and a verifier.",
            autocompletion=complete_table,
        ),
    ] = None,
    by: Annotated[
        str | None, opt.option("--by", "COLUMN", "Column that divides each file into sets, such as llm.")
    ] = None,
    score: opt.ScoreName = None,
    source: opt.SourceName = None,
    n: Annotated[str, opt.n_option("Several: 1,2,4")] = "4,16,64",
    label_counts: Annotated[
        str,
        typer.Option(
            "--label-counts",
            metavar="COUNT",
            help="Numbers of calibration questions. Several: 0,50. At 0 only methods that learn nothing take part.",
        ),
    ] = "0,50,200",
    splits: Annotated[
        int, typer.Option("--splits", metavar="COUNT", help="Random divisions into calibration and test questions.")
    ] = 2,
    method: Annotated[
        list[str] | None, opt.method_option("Repeatable, or several with commas: majority,logit. Default: all.")
    ] = None,
    answers: opt.Answers = "auto",
    labels: opt.Labels = "majority",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    seed: opt.Seed = 0,
    json: opt.Json = False,
) -> None:
    """Rank the methods by their gain over majority vote, averaged over several sets of labelled responses."""
    from steelyard.evaluation.leaderboards import leaderboard

    reading: dict[str, Any] = {
        "score": score, "source": source, "rename": opt.renames(rename), "layout": layout, "answers": answers,
        "labels": labels,
    }  # fmt: skip
    if not files and (ignored := [name for name, value in {"by": by, **reading}.items() if value not in UNSET]):
        raise SettingError(f"--{ignored[0]} is about files: name some FILE, or leave it out for the bundled pairs")
    with progress_bar("Reading") as counted:
        sets = list(_bundled(counted) if not files else _read(files, by, reading, counted))
    with progress_bar(f"Measuring {len(sets)} sets") as progress:
        board = leaderboard(
            sets, methods=opt.names(method), labels=opt.numbers(label_counts) or [], n=opt.numbers(n) or [],
            splits=splits, seed=seed, progress=progress,
        )  # fmt: skip
    if json:
        console.as_json({"rows": board.table.to_dicts(), "samples_to_match": board.samples_to_match.to_dicts()})
        return
    show_board(board.table, board.samples_to_match)


def _bundled(progress: Any) -> Iterator[ResponseSet]:
    """The bundled pairs of an LLM and a verifier, which share their questions."""
    from steelyard.evaluation.leaderboards import ResponseSet
    from steelyard.tables.labelled import load_grid
    from steelyard.tables.sources.bundled_grid import grid_names

    llms, verifiers = grid_names()
    for i, llm in enumerate(llms):
        progress(i / len(llms))
        for verifier in verifiers:
            yield ResponseSet(f"{llm}/{verifier}", load_grid(llm, verifier))


def _read(files: list[Path], by: str | None, reading: dict[str, Any], progress: Any) -> Iterator[ResponseSet]:
    """Every file, or every value of a column of it, as a set."""
    import steelyard as sy
    from steelyard.evaluation.accuracy import need_labels
    from steelyard.evaluation.leaderboards import ResponseSet

    if by is not None and reading["source"] is not None:
        raise sy.SettingError("--by makes each source a set of its own, --source lets them vote together: use one")
    for i, file in enumerate(files):
        progress(i / len(files))
        address = str(opt.source_of([file]))
        name = address.removeprefix("grid:") if address.startswith("grid:") else file.stem
        pool = need_labels(sy.read(opt.source_of([file]), **reading | ({"source": by} if by else {})))
        if by is None:
            yield ResponseSet(name, pool)
            continue
        for llm in pool.sources:
            yield ResponseSet(f"{name}/{llm}", pool.from_sources([llm]).without_sources())


def show_board(table: pl.DataFrame, match: pl.DataFrame) -> None:
    """Print one table per number of labels."""
    for labels, part in table.group_by("labels", maintain_order=True):
        sizes = part["n"].unique().sort().to_list()
        last = part.filter(n=sizes[-1])
        needed = dict(match.filter(labels=labels[0]).select("method", "samples").iter_rows())
        heads = ["method", *(f"n = {n}" for n in sizes), "rank", "worst set", "n to match", "us"]
        rows = []
        for row in last.iter_rows(named=True):
            name = row["method"]
            of_method = part.filter(method=name)
            gains = [_gain(of_method.filter(n=n)) for n in sizes]
            samples = needed.get(name)
            worst = f"{100 * row['worst']:+.1f} {console.shortened(row['worst_set'], 28)}"
            match_text = "-" if not needed else "never" if samples is None else f"{samples:.0f}"
            shown = f"{name} (default)" if row["default"] else name
            rank = f"{sum(of_method['rank']) / of_method.height:.1f}"
            rows.append([shown, *gains, rank, worst, match_text, f"{row['microseconds']:.3f}"])
        title = f"{labels[0]} labels, {_sets(row['sets'])} at n = {sizes[-1]}: gain over majority vote in points"
        print_table(title, heads, rows)
    console.tell(
        f"*: differs from the default (p < {SIGNIFICANT}, Holm). rank: mean over sets and n. n to match: samples that "
        "reach vanilla's accuracy at the largest n. us: CPU microseconds of a vote per response."
    )


def _sets(count: int) -> str:
    return f"{count} set{'' if count == 1 else 's'}"


def _gain(cell: pl.DataFrame) -> str:
    """A gain with its standard error; a star where it differs from the default."""
    if not cell.height:
        return "-"
    row = cell.row(0, named=True)
    return f"{100 * row['gain']:+.1f} ± {100 * row['gain_se']:.1f}{'*' if row['p'] < SIGNIFICANT else ' '}"
