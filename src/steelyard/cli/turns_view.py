"""Who was asked along a plan's cascade, who was not and why, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.cli import show

if TYPE_CHECKING:
    from steelyard.sampling.ask.ask_cascade import CascadeAsked


def show_turns(found: CascadeAsked) -> None:
    """Print a line per source, and the cost by the plan's prices."""
    rows = [
        (
            turn.source,
            "yes" if turn.asked else "no",
            str(turn.samples) if turn.asked else "-",
            f"{turn.tokens:.0f}" if turn.asked else "-",
            "-" if turn.cost is None else f"{turn.cost:.4g}",
            turn.why,
        )
        for turn in found.turns
    ]
    heads = ("source", "asked", "samples", "tokens", "cost", "why")
    show.table(f"Who was asked: {found.described}", heads, rows, text=True)
    if found.cost is None:
        show.say("Cost: not known, because the plan was made of a column of costs and has no prices.")
    else:
        show.say(f"Cost: {found.cost:.4g}, by the prices of the plan.")


def turns_object(found: CascadeAsked) -> dict[str, Any]:
    """The same for --json."""
    return {"steps": found.described, "cost": found.cost, "sources": [turn._asdict() for turn in found.turns]}
