"""Arguments and options that several verbs share, each with one spelling and help, and how their values are parsed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.completion import complete_kind, complete_layout, complete_method, complete_table
from steelyard.foundation.errors import SettingError


def option(name: str, metavar: str, meaning: str, **more: Any) -> Any:
    """An option with a value; its help says what the default is, if it has one."""
    return typer.Option(name, metavar=metavar, help=meaning, show_default=False, **more)


def argument(metavar: str, meaning: str, **more: Any) -> Any:
    """An argument; its help says what the default is, if it has one."""
    return typer.Argument(metavar=metavar, help=meaning, show_default=False, **more)


Files = Annotated[
    list[Path],
    argument(
        "FILE...",
        "Responses: files of the same layout, a folder, a run, - for stdin, or grid:LLM/VERIFIER.",
        autocompletion=complete_table,
    ),
]
ScoreName = Annotated[
    str | None,
    option(
        "--score",
        "COLUMN",
        "Score column; prm:min reduces step scores, sigmoid(prm) reads logits, prm:*+self or 'prm_*' mix several. "
        "Without a verifier: length, deepconf-lowest ..",
    ),
]
SourceName = Annotated[
    str | None,
    option(
        "--source", "COLUMN", "Column with the source of each response, such as llm; each source gets its own weight."
    ),
]
Rename = Annotated[
    list[str] | None,
    option("--rename", "THEIRS=OURS", "Rename column THEIRS to OURS while reading, as in question_id=question."),
]
LayoutName = Annotated[
    str | None,
    option(
        "--layout",
        "NAME",
        "Layout of the file; 'steelyard layouts' lists them. Default: detected.",
        autocompletion=complete_layout,
    ),
]
KIND = "Kind of answer: math, number, choice, text, code, json, date, yes-no, exact, free, free:NAME or re:PATTERN."
KINDS = f"{KIND} auto uses the plan's kind, or detects it from the gold answers, answers or responses."
Answers = Annotated[str, typer.Option("--answers", metavar="KIND", help=KINDS, autocompletion=complete_kind)]
Labels = Annotated[
    str,
    typer.Option(
        "--labels",
        metavar="POLICY",
        help="If 'correct' labels the same answer both true and false: majority uses its most frequent label, "
        "strict rejects the file.",
    ),
]
ANSWERS_BY_PROMPT = option(
    "--answers",
    "KIND",
    f"{KIND} Default: the kind of the prompt, or else of the gold answers.",
    autocompletion=complete_kind,
)
Plan = Annotated[Path | None, option("--plan", "FILE", "Plan made by 'steelyard fit'. Without one, use --method.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Also replace a file that Steelyard did not write.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
SEED = "Random seed."
Seed = Annotated[int, typer.Option("--seed", metavar="SEED", min=0, help=SEED)]


def n_option(more: str = "") -> Any:
    """The option -n, with what a verb does with it: a number of samples per question, always."""
    return typer.Option("-n", metavar="N", help=f"Samples per question{f'. {more}' if more else ''}.")


def output_option(description: str, metavar: str = "FILE", *, show_default: bool = False) -> Any:
    """The option -o."""
    return typer.Option("-o", "--output", metavar=metavar, help=f"Output: {description}.", show_default=show_default)


def parts_option(more: str) -> Any:
    """The option --parts, with what a verb does with it."""
    return option("--parts", "COUNT", f"Number of parts to create; {more}.", min=1)


def calibrate_option(why: str = "") -> Any:
    """The option --calibrate, with the reason where its default is not that of the other verbs."""
    return typer.Option(
        "--calibrate",
        metavar="SHARE",
        help=f"Share of the questions to calibrate on; the rest is the test set.{f' {why}' if why else ''}",
    )


def method_option(more: str) -> Any:
    """The option --method, with what a verb does with it; it may be repeated and hold several names."""
    return option(
        "--method", "NAME", f"Voting method; 'steelyard methods' lists them. {more}", autocompletion=complete_method
    )


def source_of(files: list[Path]) -> str | Path | list[Path]:
    """The input: one file (a run, grid:LLM/VERIFIER, s3://bucket/a.parquet), or several files as one table."""
    from steelyard.foundation.files import address_of

    return (address_of(files[0]) or files[0]) if len(files) == 1 else files


def title_of(files: list[Path]) -> str:
    """Files, as shown in a title.

    >>> title_of([Path("a.jsonl")]), title_of([Path("a.jsonl"), Path("b.jsonl"), Path("c.jsonl")])
    ('a.jsonl', 'a.jsonl and 2 more')
    """
    return str(source_of(files)) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def renames(pairs: list[str] | None) -> dict[str, str]:
    """Parse THEIRS=OURS pairs, one per option or separated by commas; quotes protect a comma, as in CSV.

    >>> renames(["question_id=question,final=answer", '"Score, of 10=score"'])
    {'question_id': 'question', 'final': 'answer', 'Score, of 10': 'score'}
    """
    read = {}
    for pair in [pair for text in pairs or [] for pair in _comma_separated(text)]:
        old, sep, new = pair.rpartition("=")  # a column may have = in its name; ours have none
        if not (old and sep and new):
            raise SettingError(f"cannot rename {pair!r}: write THEIRS=OURS, as in question_id=question")
        read[old] = new
    return read


def _comma_separated(text: str) -> list[str]:
    try:
        return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), []) if part.strip()]
    except csv.Error as error:
        raise SettingError(f"cannot read {text!r:.200} ({error}): separate names with commas") from None


def numbers(text: str | None) -> list[int] | None:
    """Read a list of whole numbers such as 1,2,4.

    >>> numbers("1,2, 4")
    [1, 2, 4]
    """
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(f"{text!r} is not a list of integers: write it as 1,2,4,8") from None


def names(texts: list[str] | None) -> list[str] | None:
    """Parse names, one per option or separated by commas; None if there are none.

    >>> names(["logit,kde", "majority"])
    ['logit', 'kde', 'majority']
    """
    return [part.strip() for text in texts for part in text.split(",") if part.strip()] if texts else None


def one_name(texts: list[str] | None, option: str) -> str | None:
    """Parse an option that takes one name here.

    >>> one_name(["logit"], "--method"), one_name(None, "--method")
    ('logit', None)
    """
    if not texts:
        return None
    parts = [part.strip() for text in texts for part in text.split(",")]
    if not parts[0]:
        raise SettingError(f"{option} is empty: give a name, or leave out {option}")
    if len(parts) > 1:
        listed = ", ".join(parts)
        raise SettingError(f"{option} takes one name here, not {listed}: give one ('evaluate' takes several methods)")
    return parts[0]


def without_none(**settings: Any) -> dict[str, Any]:
    """Drop options that are None."""
    return {name: value for name, value in settings.items() if value is not None}
