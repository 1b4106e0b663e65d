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
    state = status(folder, price_response=price_response)
    check_price_names(prices, [*state["sources"], VERIFIER])
    add_costs(state["spent"], prices)
    if json:
        console.as_json(state)
        return
    columns = ("wanted", "done", "failed", *(("not_scored",) if state["bills"] else ()), "left")
    parts = {"samples": state["samples"], **{f"scored by {name}": part for name, part in state["verifiers"].items()}}
    sources = {f"samples of {name} ({part['model']})": part for name, part in state["sources"].items()}
    rows = [(name, *(f"{part.get(column, 0):,}" for column in columns)) for name, part in {**sources, **parts}.items()]
    questions = f"{state['questions']:,} questions, {state['n']} samples each{' per upstream' * bool(sources)}"
    if state["made_from"]:
        questions = f"{state['questions']:,} questions, responses of {state['made_from']}"
    model = state["model"] or (f"{len(sources)} upstreams" if sources else "LLM not named")
    print_table(f"{folder}: {model}, {questions}", ("", *(column.replace("_", " ") for column in columns)), rows)
    show_bills(state["bills"])
    _say_spent(state)
    _say_failures(parts)
    _say_parts(state.get("parts", []))
    if state["torn_bytes"]:
        console.say(
            f"The journal ends in an unfinished record of {state['torn_bytes']:,} bytes: the next command drops it."
        )
    if state["writer"]:
        console.say(f"Process {state['writer'].get('pid')} on {state['writer'].get('host')} is writing to it now.")
    elif state["samples"]["left"] or state["samples"]["failed"]:
        verb = "score" if state["made_from"] else "generate"
        console.say(f"To finish it, run the 'steelyard {verb}' command of this run again: nothing is requested twice.")
    console.say(f"Its table is {state['table']}{' (' * bool(state['lost'])}{state['lost']}{')' * bool(state['lost'])}.")


def _say_failures(parts: dict[str, dict[str, Any]]) -> None:
    """What failed and why, of the samples and of every verifier."""
    for name, part in parts.items():
        for failure in part["reasons"]:
            console.say(f"{name}: {failure['samples']:,} failed: {console.shortened(failure['reason'], 100)}")
        for failure in part["failures"][:SHOWN]:
            of = f" of {failure['source']}" if "source" in failure else ""
            console.say(f"  question {console.shortened(failure['question'], 40)}, sample {failure['sample']}{of}")
        if part["failed"] > SHOWN:
            console.say(f"  and {part['failed'] - SHOWN:,} more: --json lists all")


def _say_spent(state: dict[str, Any]) -> None:
    """What was spent on the samples of every upstream and on the scores of every verifier."""
    spent, sampled = state["spent"], 0
    for name, usage in spent["samples"].items():
        sampled += usage["samples"]
        console.say(spent_line(usage, f" on samples{' of ' * bool(name)}{name}"))
    for name, usage in spent["verifiers"].items():
        console.say(spent_line(usage, f" on scores of {name}"))
    older = state["samples"]["done"] - sampled
    if not state["made_from"] and older > 0:
        which = "Spent on samples" if not sampled else f"Spent on {older:,} older samples"
        console.say(f"{which}: not recorded.")


def _say_parts(parts: list[dict[str, Any]]) -> None:
    """How many parts are how far, and those that somebody works on or that have failures, by name."""
    if not parts:
        return
    counts = {state: sum(part["state"] == state for part in parts) for state in ("sampled", "begun", "not begun")}
    console.say(f"{len(parts):,} parts: {', '.join(f'{count:,} {state}' for state, count in counts.items() if count)}.")
    for part in [row for row in parts if row["writer"] or row["failed"]][:SHOWN]:
        who = part["writer"] and f", process {part['writer'].get('pid')} on {part['writer'].get('host')} is at work"
        failed = f", {part['failed']:,} failed" if part["failed"] else ""
        console.say(f"  {part['part']}: {part['questions']:,} questions, {part['done']:,} samples{failed}{who or ''}")
