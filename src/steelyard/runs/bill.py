"""The bill of a verifier that was asked on demand: what was read, what was saved, and what that comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from steelyard.foundation.errors import SettingError, need_numbers
from steelyard.runs.on_demand import BEGINS, ENDS, ROUND, SAME, has_text, notes_about
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


@dataclass(frozen=True)
class Bill:
    """What was counted of one column; bills of parts can be added. `begun` are the notes that walks began with."""

    begun: tuple[dict[str, Any], ...] = ()
    finished: bool = True
    read: int = 0
    copied: int = 0
    not_asked: int = 0
    tokens_read: int | None = None
    tokens_not_read: int | None = None
    seconds: float = 0.0
    timed: int = 0  # texts that were read in these seconds

    def __add__(self, other: Bill) -> Bill:
        begun = tuple({_same(note): note for note in (*self.begun, *other.begun)}.values())
        both = self.finished and other.finished and len(begun) == 1
        return Bill(
            begun,
            both,
            self.read + other.read,
            self.copied + other.copied,
            self.not_asked + other.not_asked,
            _sum([self.tokens_read, other.tokens_read]),
            _sum([self.tokens_not_read, other.tokens_not_read]),
            self.seconds + other.seconds,
            self.timed + other.timed,
        )

    def told(self, price: float | None) -> dict[str, Any]:
        """The bill as `status` has it."""
        saved = self.not_asked + self.copied
        return {
            "rule": _joined(note.get("rule") for note in self.begun),
            "plan": _joined(note.get("plan") for note in self.begun),
            "finished": self.finished,
            "read": self.read,
            "copied": self.copied,
            "not_asked": self.not_asked,
            "tokens_read": self.tokens_read,
            "tokens_not_read": self.tokens_not_read,
            "seconds": round(self.seconds, 3),
            "seconds_saved": round(self.seconds / self.timed * saved, 3) if self.timed else None,
            "cost": None if price is None else price * self.read,
            "saved": None if price is None else price * saved,
        }


def bills(run: Run, price: float | None = None) -> dict[str, dict[str, Any]]:
    """The bills of all columns whose verifier was asked on demand, by name.

    `read` texts were asked for, `copied` responses have the words of one of them, `not_asked` ones were saved. Tokens
    are those of the responses, None where none were counted. Seconds are those of complete rounds; what was saved of
    them is reckoned by the mean of those read. With a `price` per response, `cost` and `saved` are in its currency.
    """
    check_price(price)
    return {column: bill.told(price) for column, bill in counted(run, columns_on_demand(run)).items()}


def columns_on_demand(run: Run) -> set[str]:
    """The columns whose verifier was asked on demand."""
    return {note["column"] for note in run.state.notes if note.get("about") == BEGINS}


def counted(run: Run, columns: set[str]) -> dict[str, Bill]:
    """What was counted of some columns; nothing was asked of one whose walk has not begun."""
    if not columns:
        return {}
    tokens: dict[Key, int | None] = {}
    copies: dict[str, set[Key]] = {column: set() for column in columns}
    for record in run.records():
        if record["kind"] == "sample" and has_text(record.get("response")):
            tokens.setdefault((record["question"], record["sample"]), _tokens(record))
        elif record["kind"] in ("score", "score-failure") and "copy_of" in record:
            copies.get(record["verifier"], set()).add((record["question"], record["sample"]))
    return {column: _bill(run, column, tokens, copies[column]) for column in sorted(columns)}


def _bill(run: Run, column: str, tokens: dict[Key, int | None], copies: set[Key]) -> Bill:
    tally, notes = run.state.scores[column], notes_about(run.state.notes, column)
    asked = {key for key in tokens if key in tally.done or key in tally.failed}
    read, saved = asked - copies, tokens.keys() - asked
    rounds = [note for note in notes if note["about"] == ROUND]
    return Bill(
        begun=tuple([note for note in notes if note["about"] == BEGINS][-1:]),
        finished=bool(notes) and notes[-1]["about"] == ENDS,
        read=len(read),
        copied=len(asked & copies),
        not_asked=len(saved),
        tokens_read=_sum(tokens[key] for key in read),
        tokens_not_read=_sum(tokens[key] for key in saved | (asked & copies)),
        seconds=sum(float(note.get("seconds") or 0) for note in rounds),
        timed=sum(int(note.get("read") or 0) for note in rounds),
    )


def _same(note: dict[str, Any]) -> tuple[Any, ...]:
    """What tells walks apart, as in steelyard/runs/on_demand.py."""
    return tuple(note.get(name) for name in SAME)


def _joined(names: Iterable[Any]) -> str | None:
    return " and ".join(dict.fromkeys(map(str, names))) or None


def _tokens(record: dict[str, Any]) -> int | None:
    """The tokens of a response, by the server or by the table it came in."""
    row = record.get("row")
    found = record.get("tokens", row.get("tokens") if isinstance(row, dict) else None)
    return found if type(found) is int else None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
