"""The bill of a verifier that was asked on demand: what was read, what was saved, and what that comes to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from steelyard.errors import SettingError, need_numbers
from steelyard.runs.on_demand import BEGINS, ENDS, ROUND, has_text, notes_about
from steelyard.runs.run import Run
from steelyard.runs.state import Key

MOST = 1e9  # of a price


def check_price(price: float | None) -> None:
    """Refuse a price that is no price."""
    if price is None:
        return
    need_numbers(price_response=price)
    if not 0 <= price <= MOST:
        raise SettingError(
            f"the price of a response is {price:g}: give what the verifier costs per response, 0 or more"
        )


def bills(run: Run, price: float | None = None) -> dict[str, dict[str, Any]]:
    """The bills of all columns whose verifier was asked on demand, by name.

    `read` texts were asked for, `copied` responses have the words of one of them, `not_asked` ones were saved. Tokens
    are those of the responses, None where none were counted. Seconds are those of complete rounds; what was saved of
    them is reckoned by the mean of those read. With a `price` per response, `cost` and `saved` are in its currency.
    """
    check_price(price)
    columns = {note["column"] for note in run.state.notes if note.get("about") == BEGINS}
    if not columns:
        return {}
    tokens: dict[Key, int | None] = {}
    copies: dict[str, set[Key]] = {column: set() for column in columns}
    for record in run.records():
        if record["kind"] == "sample" and has_text(record.get("response")):
            tokens.setdefault((record["question"], record["sample"]), _tokens(record))
        elif record["kind"] in ("score", "score-failure") and "copy_of" in record:
            copies.get(record["verifier"], set()).add((record["question"], record["sample"]))
    return {column: _bill(run, column, tokens, copies[column], price) for column in sorted(columns)}


def _bill(
    run: Run, column: str, tokens: dict[Key, int | None], copies: set[Key], price: float | None
) -> dict[str, Any]:
    tally, notes = run.state.scores[column], notes_about(run.state.notes, column)
    asked = {key for key in tokens if key in tally.done or key in tally.failed}
    read, saved = asked - copies, tokens.keys() - asked
    rounds = [note for note in notes if note["about"] == ROUND]
    seconds, timed = (sum(float(note.get(name) or 0) for note in rounds) for name in ("seconds", "read"))
    begun = [note for note in notes if note["about"] == BEGINS][-1]
    return {
        "rule": begun.get("rule"),
        "plan": begun.get("plan"),
        "finished": notes[-1]["about"] == ENDS,
        "read": len(read),
        "copied": len(asked & copies),
        "not_asked": len(saved),
        "tokens_read": _sum(tokens[key] for key in read),
        "tokens_not_read": _sum(tokens[key] for key in saved | (asked & copies)),
        "seconds": round(seconds, 3),
        "seconds_saved": round(seconds / timed * len(saved | (asked & copies)), 3) if timed else None,
        "cost": None if price is None else price * len(read),
        "saved": None if price is None else price * (len(tokens) - len(read)),
    }


def _tokens(record: dict[str, Any]) -> int | None:
    """The tokens of a response, by the server or by the table it came in."""
    row = record.get("row")
    found = record.get("tokens", row.get("tokens") if isinstance(row, dict) else None)
    return found if type(found) is int else None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
