"""What a server supports, as an earlier command noted in the run."""

from __future__ import annotations

from typing import Any

from steelyard.runs.parameters import Abilities
from steelyard.runs.run import Run


def abilities_key(base: str, model: str, n: int, *, fan_out: bool, logprobs: bool) -> dict[str, Any]:
    """The server, the model and the kind of request that a note applies to."""
    return {"upstream": base, "model": model, "wanted": 1 if fan_out else n, "tried_logprobs": logprobs}


def noted_abilities(run: Run, key: dict[str, Any]) -> Abilities | None:
    """The abilities in the latest note with this key; None if there is no such note."""
    for note in reversed(run.state.notes):
        if note.get("note") == "abilities" and key.items() <= note.items():
            return Abilities(**note["abilities"])
    return None
