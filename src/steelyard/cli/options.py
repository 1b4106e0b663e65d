"""Arguments and options that several verbs share, one spelling and help for one idea, and how they are read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.completion import (
    complete_kind,
    complete_layout,
    complete_method,
    complete_table,
    complete_upstream,
    complete_verifier,
)
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import Place, place_of

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Responses: files of one layout, a folder, - for stdin, a run, or grid:LLM/VERIFIER.",
        show_default=False,
        autocompletion=complete_table,
    ),
]
ScoreName = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="COLUMN",
        help="Score column; prm:min reduces step scores, sigmoid(prm) reads logits, prm:*+self mixes several.",
        show_default=False,
    ),
]
SourceName = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="COLUMN",
        help="Column that says who answered, as llm: every source weighs what it is worth.",
        show_default=False,
    ),
]
Rename = Annotated[
    list[str] | None,
    typer.Option(
        "--rename",
        metavar="THEIRS=OURS",
        help="Read column THEIRS as OURS: --rename question_id=question.",
        show_default=False,
    ),
]
LayoutName = Annotated[
    str | None,
    typer.Option(
        "--layout",
        metavar="NAME",
        help="Read the file by this layout of 'steelyard layouts'.",
        show_default=False,
        autocompletion=complete_layout,
    ),
]
KINDS = (
    "Kind of answer: math, number, choice, text, code, json, date, yes-no, exact or re:PATTERN; auto is that of "
    "the plan, else decided by the golds, answers or responses."
)
Answers = Annotated[str, typer.Option("--answers", metavar="KIND", help=KINDS, autocompletion=complete_kind)]
Labels = Annotated[
    str,
    typer.Option(
        "--labels",
        metavar="POLICY",
        help="Where 'correct' labels one answer both ways: majority takes the label of most of its responses, "
        "strict refuses the file.",
    ),
]
ANSWERS_BY_PROMPT = typer.Option(
    "--answers",
    metavar="KIND",
    help="Kind of answer: math, number, choice, text, code, json, date, yes-no, exact or re:PATTERN. Default: that of "
    "the prompt, else of the golds.",
    show_default=False,
    autocompletion=complete_kind,
)
SERVER = "OpenAI-compatible server, as http://127.0.0.1:8000/v1; or local."
Upstreams = Annotated[
    list[str],
    typer.Option(
        "--upstream",
        metavar="URL",
        help=f"{SERVER} Several by name: a=URL,b=URL.",
        show_default=False,
        autocompletion=complete_upstream,
    ),
]
AnyUpstream = Annotated[
    str | None,
    typer.Option("--upstream", metavar="URL", help=SERVER, show_default=False, autocompletion=complete_upstream),
]
VerifierServers = Annotated[
    str | None,
    typer.Option(
        "--upstream",
        metavar="URL",
        help=f"{SERVER} With --engine, one per worker: URL,URL.",
        show_default=False,
        autocompletion=complete_upstream,
    ),
]
AnyUpstreams = Annotated[
    list[str] | None,
    typer.Option(
        "--upstream",
        metavar="URL",
        help=f"{SERVER} Several by name: a=URL,b=URL.",
        show_default=False,
        autocompletion=complete_upstream,
    ),
]
MODEL = "The model, by the name the server knows it by."
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help=MODEL, show_default=False)]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help=f"{MODEL} Several upstreams: a=NAME,b=NAME. Default: their names.",
        show_default=False,
    ),
]
KEY = "Environment variable that holds the server's key, if any."
KeyEnvs = Annotated[
    list[str] | None,
    typer.Option(
        "--key-env",
        metavar="VARIABLE",
        help=f"{KEY} Several upstreams: one for all, or a=VARIABLE,b=VARIABLE. Default: OPENAI_API_KEY.",
        show_default=False,
    ),
]
KeyEnv = Annotated[
    str,
    typer.Option("--key-env", metavar="VARIABLE", help=KEY),
]
VerifierName = Annotated[
    str | None,
    typer.Option(
        "--verifier",
        metavar="NAME",
        help="Short name of a verifier; 'steelyard score' alone lists them.",
        show_default=False,
        autocompletion=complete_verifier,
    ),
]
PROMPT = "Prompt: math, choice, plain, or a file with {prompt} in it."
Temperature = Annotated[float, typer.Option("--temperature", metavar="T", help="Temperature of the samples.")]
TopP = Annotated[float, typer.Option("--top-p", metavar="P", help="Share of the probability that is sampled from.")]
MaxFailures = Annotated[
    str,
    typer.Option(
        "--max-failures", metavar="COUNT|SHARE%", help="Stop after more failures: a number, or a share as 1%."
    ),
]
FrugalRule = Annotated[
    str | None,
    typer.Option(
        "--frugal",
        metavar="RULE",
        help="Ask the verifier on demand: exact (changes no verdict of the plan) or expected (worth its price). "
        "Without a rule: expected where the plan has learned it, else exact.",
        show_default=False,
    ),
]
Plan = Annotated[
    Path | None,
    typer.Option(
        "--plan", metavar="FILE", help="A plan made by 'steelyard fit'; without one: --method.", show_default=False
    ),
]
PriceResponse = Annotated[
    float | None,
    typer.Option(
        "--price-response",
        metavar="MONEY",
        help="What a verifier costs per response it reads; the bill of --frugal is then in money, too.",
        show_default=False,
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that Steelyard did not write, too.")]
ScorePrice = Annotated[
    float | None,
    typer.Option(
        "--price-score",
        metavar="PRICE",
        help="What one score costs. With --frugal expected, in accuracy it must bring: 0.0015 by default.",
        show_default=False,
    ),
]
VerifierUpstream = Annotated[
    str | None,
    typer.Option(
        "--verifier-upstream",
        metavar="URL",
        help="Server of the verifier; what --upstream is to 'steelyard score'.",
        show_default=False,
    ),
]
VerifierModel = Annotated[
    str | None,
    typer.Option(
        "--verifier-model",
        metavar="NAME",
        help="The verifier's model; what --model is to 'steelyard score'.",
        show_default=False,
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Who does the work: ray, ray:ADDRESS of a cluster, or processes:2. Default: this process.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="COUNT",
        help="With --engine: how many parts are under way at once. Default: what there is room for.",
        min=1,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
SEED = "Seed of every random choice."
Seed = Annotated[int, typer.Option("--seed", metavar="SEED", min=0, help=SEED)]


def n_option(more: str = "") -> Any:
    """The option -n, with what a verb does with it: a number of samples per question, always."""
    return typer.Option("-n", metavar="N", help=f"Samples per question{f': {more}' if more else ''}.")


def output_option(what: str, metavar: str = "FILE", *, show_default: bool = False) -> Any:
    """The option -o."""
    return typer.Option("-o", "--output", metavar=metavar, help=f"Where to write: {what}.", show_default=show_default)


def parts_option(more: str) -> Any:
    """The option --parts, with what a verb does with it."""
    return typer.Option(
        "--parts", metavar="COUNT", help=f"Parts that the questions are cut into: {more}.", min=1, show_default=False
    )


def calibrate_option(why: str = "") -> Any:
    """The option --calibrate, with the reason where its default is not that of the other verbs."""
    return typer.Option(
        "--calibrate",
        metavar="SHARE",
        help=f"Share of the questions to calibrate on; the rest is the test set.{f' {why}' if why else ''}",
    )


def method_option(more: str) -> Any:
    """The option --method, with what a verb does with it; it may be repeated and hold several names."""
    return typer.Option(
        "--method",
        metavar="NAME",
        help=f"Method, as 'steelyard methods' lists them. {more}",
        show_default=False,
        autocompletion=complete_method,
    )


def source_of(files: list[Path]) -> str | Path | list[Path]:
    """What is read: the one file (a run, grid:LLM/VERIFIER, s3://bucket/a.parquet), or several as one table."""
    from steelyard.foundation.files import address_of

    return (address_of(files[0]) or files[0]) if len(files) == 1 else files


def folder_for(
    files: list[Path], output: Path | None, engine: str | None, workers: int | None, overwrite: bool
) -> Place | None:
    """The folder of parts that an engine is to work on, and None without an engine."""
    if engine is None:
        if workers is not None:
            raise SettingError("--workers is for an engine: give --engine ray or --engine processes:2 too")
        return None
    if len(files) > 1:
        raise SettingError("--engine works on one folder of parts: make one with 'steelyard partition'")
    if output is None:
        raise SettingError("--engine writes a folder: name it with -o")
    no_overwrite(overwrite)
    return place_of(files[0])


def no_overwrite(overwrite: bool) -> None:
    """Refuse to write over a folder that an engine has made."""
    if overwrite:
        raise SettingError("--engine writes over no folder: leave --overwrite away, and choose another folder with -o")


def spoken(files: list[Path]) -> str:
    """Files as a title says them.

    >>> spoken([Path("a.jsonl")]), spoken([Path("a.jsonl"), Path("b.jsonl"), Path("c.jsonl")])
    ('a.jsonl', 'a.jsonl and 2 more')
    """
    return str(source_of(files)) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def renames(pairs: list[str] | None) -> dict[str, str]:
    """Read THEIRS=OURS pairs, one an option or several with commas; quotes protect a comma, as in CSV.

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
        raise SettingError(f"cannot read {text!r:.200} ({error}): write names with commas between them") from None


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


def names(texts: list[str] | None) -> list[str] | None:
    """Read names, one an option or several with commas; None where there are none.

    >>> names(["logit,kde", "majority"])
    ['logit', 'kde', 'majority']
    """
    return [part.strip() for text in texts for part in text.split(",") if part.strip()] if texts else None


def upstream_options(upstream: list[str], model: list[str] | None, key_env: list[str] | None) -> dict[str, str]:
    """Read what is said of upstreams, one an option or several with commas; without names each is said once.

    >>> upstream_options(["a=http://h/v1", "b=local"], None, ["a=KEY"])
    {'upstream': 'a=http://h/v1,b=local', 'key_env': 'a=KEY'}
    """
    given = {"upstream": upstream, "model": model or [], "key_env": key_env or []}
    for name, texts in given.items():
        option = f"--{name.replace('_', '-')}"
        if len(texts) > 1 and not all("=" in text for text in texts):
            raise SettingError(
                f"{option} was given {len(texts)} times: say it once, or by name as in {option} a=..,b=.."
            )
    return {name: ",".join(texts) for name, texts in given.items() if texts}


def one_name(texts: list[str] | None, option: str) -> str | None:
    """Read the one name that an option may have here.

    >>> one_name(["logit"], "--method"), one_name(None, "--method")
    ('logit', None)
    """
    if not texts:
        return None
    found = [part.strip() for text in texts for part in text.split(",")]
    if not found[0]:
        raise SettingError(f"{option} has no name in it: give one, or leave {option} away")
    if len(found) > 1:
        told = ", ".join(found)
        raise SettingError(f"{option} takes one name here, not {told}: give one ('evaluate' takes several methods)")
    return found[0]


def only_given(**settings: Any) -> dict[str, Any]:
    """Drop the options that were not given."""
    return {name: value for name, value in settings.items() if value is not None}
