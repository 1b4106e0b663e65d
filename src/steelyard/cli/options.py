"""Arguments and options that several verbs share, and how their text is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.errors import SettingError

File = Annotated[
    Path,
    typer.Argument(
        help="Table of responses: .parquet, .jsonl, .csv, .arrow; a run folder; or grid:LLM/VERIFIER.",
        show_default=False,
    ),
]
ScoreName = Annotated[
    str | None,
    typer.Option(
        "--score",
        help="Score column; prm:min reduces step scores, sigmoid(prm) reads logits, prm:*+self mixes several.",
        show_default=False,
    ),
]
SourceName = Annotated[
    str | None,
    typer.Option(
        "--source",
        help="Column that says who answered, as llm: every source weighs what it is worth.",
        show_default=False,
    ),
]
Rename = Annotated[
    list[str] | None,
    typer.Option("--rename", help="Read column THEIRS as OURS: --rename question_id=question.", show_default=False),
]
Answers = Annotated[
    str, typer.Option("--answers", help="Kind of answer: math, number, choice, text, exact or re:PATTERN.")
]
UpstreamUrl = Annotated[
    str,
    typer.Option(
        "--upstream", help="OpenAI-compatible server, as http://127.0.0.1:8000/v1; or local.", show_default=False
    ),
]
Model = Annotated[
    str | None, typer.Option("--model", help="The model, by the name the server knows it by.", show_default=False)
]
KeyEnv = Annotated[str, typer.Option("--key-env", help="Environment variable that holds the server's key, if any.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of every random choice.")]


def renames(pairs: list[str] | None) -> dict[str, str]:
    """Read THEIRS=OURS pairs, one an option or several with commas.

    >>> renames(["question_id=question,final=answer"])
    {'question_id': 'question', 'final': 'answer'}
    """
    read = {}
    for pair in (part for text in pairs or [] for part in text.split(",")):
        old, sep, new = pair.partition("=")
        if not (old and sep and new):
            raise SettingError(f"cannot rename {pair!r}: write THEIRS=OURS, as in question_id=question")
        read[old] = new
    return read


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
        raise SettingError(f"cannot read {text!r} as whole numbers: write them as 1,2,4,8") from None


def words(text: str | None) -> list[str] | None:
    """Read a list of names such as logit,kde."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def only_given(**settings: Any) -> dict[str, Any]:
    """Drop the options that were not given."""
    return {name: value for name, value in settings.items() if value is not None}
