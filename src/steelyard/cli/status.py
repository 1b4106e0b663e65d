"""steelyard status: where a run stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.costs import add_costs, show_bills, spent_line
from steelyard.cli.sampling_options import PriceResponse, TokenPrice
from steelyard.cli.text_tables import print_table

EXAMPLE = "Example: steelyard status run"
SHOWN = 10


def run(
    folder: Annotated[Path, opt.argument("RUN", "Folder made by 'steelyard generate'.")],
    price_response: PriceResponse = None,
    price: TokenPrice = None,
    json: opt.Json = False,
) -> None:
    """Show the state of a run: what is done, failed (and why), scored and spent, and how old its table is."""
    from steelyard.runs.status import status
    from steelyard.sampling.llm.prices import VERIFIER, check_price_names, read_prices

    prices = read_prices(price or [])
    found = status(folder, price_response=price_response)
    check_price_names(prices, [*found["sources"], VERIFIER])
    add_costs(found["spent"], prices)
    if json:
        console.as_json(found)
        return
    columns = ("wanted", "done", "failed", *(("not_asked",) if found["bills"] else ()), "left")
    parts = {"samples": found["samples"], **{f"scored by {name}": part for name, part in found["verifiers"].items()}}
    sources = {f"samples of {name} ({part['model']})": part for name, part in found["sources"].items()}
    rows = [(name, *(f"{part.get(column, 0):,}" for column in columns)) for name, part in {**sources, **parts}.items()]
    questions = f"{found['questions']:,} questions, {found['n']} samples each{' per upstream' * bool(sources)}"
    if found["made_from"]:
        questions = f"{found['questions']:,} questions, responses of {found['made_from']}"
    model = found["model"] or (f"{len(sources)} upstreams" if sources else "LLM not named")
    print_table(f"{folder}: {model}, {questions}", ("", *(column.replace("_", " ") for column in columns)), rows)
    show_bills(found["bills"])
    _say_spent(found)
    _say_failures(parts)
    _say_parts(found.get("parts", []))
    if found["torn_bytes"]:
        console.say(
            f"The journal ends in an unfinished record of {found['torn_bytes']:,} bytes: the next command drops it."
        )
    if found["writer"]:
        console.say(f"Process {found['writer'].get('pid')} on {found['writer'].get('host')} is writing to it now.")
    elif found["samples"]["left"] or found["samples"]["failed"]:
        verb = "score" if found["made_from"] else "generate"
        console.say(f"To finish it, run the 'steelyard {verb}' command of this run again: nothing is requested twice.")
    console.say(f"Its table is {found['table']}{' (' * bool(found['lost'])}{found['lost']}{')' * bool(found['lost'])}.")


def _say_failures(parts: dict[str, dict[str, Any]]) -> None:
    """What failed and why, of the samples and of every verifier."""
    for name, part in parts.items():
        for each in part["reasons"]:
            console.say(f"{name}: {each['samples']:,} failed: {console.shortened(each['reason'], 100)}")
        for each in part["failures"][:SHOWN]:
            of = f" of {each['source']}" if "source" in each else ""
            console.say(f"  question {console.shortened(each['question'], 40)}, sample {each['sample']}{of}")
        if part["failed"] > SHOWN:
            console.say(f"  and {part['failed'] - SHOWN:,} more: --json lists all")


def _say_spent(found: dict[str, Any]) -> None:
    """What was spent on the samples of every upstream and on the scores of every verifier."""
    spent, sampled = found["spent"], 0
    for name, usage in spent["samples"].items():
        sampled += usage["samples"]
        console.say(spent_line(usage, f" on samples{' of ' * bool(name)}{name}"))
    for name, usage in spent["verifiers"].items():
        console.say(spent_line(usage, f" on scores of {name}"))
    older = found["samples"]["done"] - sampled
    if not found["made_from"] and older > 0:
        which = "Spent on samples" if not sampled else f"Spent on {older:,} older samples"
        console.say(f"{which}: not recorded.")


def _say_parts(parts: list[dict[str, Any]]) -> None:
    """How many parts are how far, and those that somebody works on or that have failures, by name."""
    if not parts:
        return
    counts = {state: sum(part["state"] == state for part in parts) for state in ("sampled", "begun", "not begun")}
    console.say(f"{len(parts):,} parts: {', '.join(f'{count:,} {state}' for state, count in counts.items() if count)}.")
    for part in [each for each in parts if each["writer"] or each["failed"]][:SHOWN]:
        who = part["writer"] and f", process {part['writer'].get('pid')} on {part['writer'].get('host')} is at work"
        failed = f", {part['failed']:,} failed" if part["failed"] else ""
        console.say(f"  {part['part']}: {part['questions']:,} questions, {part['done']:,} samples{failed}{who or ''}")
