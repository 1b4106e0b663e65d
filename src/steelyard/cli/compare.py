"""steelyard compare: two methods, plans or files on the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.completion import complete_table
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.errors import SettingError

EXAMPLE = (
    "Example: steelyard compare labelled.parquet --method logit,majority\n\n"
    "Example (two plans): steelyard compare old.json new.json --on labelled.parquet"
)
SHOWN = 10
LONGEST = 30  # characters of an answer
CONTEXT = 12  # characters shown before the place where two long answers differ


def run(
    a: Annotated[
        str,
        opt.argument(
            "FILE",
            "Labelled responses for two methods; or the first of two plans, verdicts, responses or methods.",
            autocompletion=complete_table,
        ),
    ],
    b: Annotated[str | None, opt.argument("[FILE]", "The second plan, verdicts, responses or method.")] = None,
    on: Annotated[
        Path | None,
        opt.option(
            "--on",
            "FILE",
            "With two: labelled responses for the methods or plans to vote on.",
            autocompletion=complete_table,
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        opt.method_option(
            "Two to compare: logit,majority; or one for files of responses. Default: calibrated, or committee."
        ),
    ] = None,
    score: opt.ScoreName = None,
    source: opt.SourceName = None,
    calibrate: Annotated[float, opt.calibrate_option()] = 0.3,
    n: Annotated[int | None, opt.n_option("Uses the first N. Default: all")] = None,
    answers: opt.Answers = "auto",
    labels: opt.Labels = "majority",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    seed: opt.Seed = 0,
    json: opt.Json = False,
) -> None:
    """Compare two voters on the same questions: which is better, by how much, and where they differ."""
    from steelyard.evaluation.accuracy import as_columns
    from steelyard.evaluation.compare import compare

    first, second, responses, voter = _compared_inputs(a, b, on, opt.names(method) or [])
    options = {"score": score, "source": source, "answers": answers, "rename": opt.renames(rename), "layout": layout}
    options |= {"labels": labels}
    comparison = compare(first, second, on=responses, method=voter, calibrate=calibrate, seed=seed, n=n, **options)
    differing = comparison.differing()
    figures = {}
    if comparison.labelled:
        values = (*comparison.accuracies(seed), comparison.difference(seed))
        figures = {name: as_columns(v, "value", "") for name, v in zip(("a", "b", "difference"), values, strict=True)}
    if json:
        sizes = {"questions": comparison.table.height, "differing": differing.to_dicts()}
        console.as_json({"names": list(comparison.names), **figures, **sizes})
        return
    titles = dict(zip(("a", "b", "difference"), (*comparison.names, "difference"), strict=True))
    rows = [
        (titles[k], *(points(f[x]) if k == "difference" else percent(f[x]) for x in ("value", "low", "high")))
        for k, f in figures.items()
    ]
    print_table(f"{comparison.table.height} questions decided by both (%)", ("", "accuracy", "from", "to"), rows)
    heads = ("question", *comparison.names)
    cells = [
        (console.shortened(q, 40), *(_answer_cell(*cell) for cell in zip(_differing(x, y), (r, s), strict=True)))
        for q, x, r, y, s in differing.head(SHOWN).iter_rows()
    ]
    print_table(f"They differ on {differing.height}; the first of them", heads, cells)


def _compared_inputs(
    a: str, b: str | None, on: Path | None, methods: list[str]
) -> tuple[str, str, Path | None, str | None]:
    """The two to compare, the responses they vote on, and the method for files of responses."""
    if b is None:
        if len(methods) != 2 or on is not None:
            raise SettingError(
                f"there is nothing to compare {a} with: name two methods (--method logit,majority), or a second file"
            )
        return methods[0], methods[1], Path(a), None
    if len(methods) > 1:
        raise SettingError("two files are compared by one --method; to compare two methods, name one FILE")
    return a, b, on, methods[0] if methods else None


def _differing(a: str | None, b: str | None) -> tuple[str, str]:
    """Two answers, cut at the start if they would be too long to show where they differ.

    >>> _differing("The capital of that country is Paris.", "The capital of that country is Rome.")
    ('…that country is Paris.', '…that country is Rome.')
    """
    texts = str(a), str(b)
    pairs = enumerate(zip(*texts, strict=False))
    common = next((i for i, (x, y) in pairs if x != y), min(map(len, texts)))
    if common < LONGEST - CONTEXT:
        return texts
    start = texts[0].rfind(" ", 0, common - CONTEXT) + 1 or common - CONTEXT
    return f"…{texts[0][start:]}", f"…{texts[1][start:]}"


def _answer_cell(answer: str, correct: bool | None) -> str:
    """An answer, and whether it is correct where that is known."""
    return console.shortened(answer, LONGEST) + {True: " (correct)", False: "", None: ""}[correct]
