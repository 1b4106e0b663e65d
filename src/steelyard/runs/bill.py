"""The bill of on-demand scoring: how many responses the verifier read, how many it skipped, and the cost.

For a run in parts, the counts of all parts are added.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.foundation.errors import SettingError, need_numbers
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.on_demand_records import BEGINS, ENDS, ROUND, SAME, has_text, walk_notes
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run
from steelyard.runs.run_state import Key

MAX_PRICE = 1e9


def check_price(price: float | None) -> None:
    if price is None:
        return
    need_numbers(price_response=price)
    if not 0 <= price <= MAX_PRICE:
        raise SettingError(
            f"the price of a response is {price:g}: give what the verifier costs per response, 0 or more"
        )


@dataclass(frozen=True)
class Bill:
    """The counts of one column; bills of parts can be added. `begun` are the first notes of the walks."""

    begun: tuple[dict[str, Any], ...] = ()
    finished: bool = True
    read: int = 0
    copied: int = 0
    not_scored: int = 0
    tokens_read: int | None = None
    tokens_not_read: int | None = None
    seconds: float = 0.0
    timed: int = 0  # texts read in these seconds

    def __add__(self, other: Bill) -> Bill:
        walks = {tuple(map(note.get, SAME)): note for note in (*self.begun, *other.begun)}
        begun = tuple(walks.values())
        finished = self.finished and other.finished and len(begun) == 1
        return Bill(
            begun,
            finished,
            self.read + other.read,
            self.copied + other.copied,
            self.not_scored + other.not_scored,
            _sum([self.tokens_read, other.tokens_read]),
            _sum([self.tokens_not_read, other.tokens_not_read]),
            self.seconds + other.seconds,
            self.timed + other.timed,
        )

    def as_dict(self, price: float | None) -> dict[str, Any]:
        """Return the bill as `status` reports it."""
        saved = self.not_scored + self.copied
        return {
            "rule": _joined(note.get("rule") for note in self.begun),
            "plan": _joined(note.get("plan") for note in self.begun),
            "finished": self.finished,
            "read": self.read,
            "copied": self.copied,
            "not_scored": self.not_scored,
            "tokens_read": self.tokens_read,
            "tokens_not_read": self.tokens_not_read,
            "seconds": round(self.seconds, 3),
            "seconds_saved": round(self.seconds / self.timed * saved, 3) if self.timed else None,
            "cost": None if price is None else price * self.read,
            "saved": None if price is None else price * saved,
        }


def bills(run: Run, price: float | None = None) -> dict[str, dict[str, Any]]:
    """Return the bills of all columns that were scored on demand, by name.

    `read` texts were scored, `copied` responses have the same text as one of them, and `not_scored` ones were skipped.
    Tokens are those of the responses, None if none were counted. Seconds are those of complete rounds; the seconds
    saved are estimated from the mean per text. With a `price` per response, `cost` and `saved` are in its currency.
    """
    check_price(price)
    return {column: bill.as_dict(price) for column, bill in counted(run, columns_on_demand(run)).items()}


def columns_on_demand(run: Run) -> set[str]:
    return {note["column"] for note in run.state.notes if note.get("about") == BEGINS}


def counted(run: Run, columns: set[str]) -> dict[str, Bill]:
    """Return the bills of some columns; a column without a walk has an empty bill."""
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
    tally, notes = run.state.scores[column], walk_notes(run.state.notes, column)
    scored = {key for key in tokens if key in tally.done or key in tally.failed}
    read, skipped = scored - copies, tokens.keys() - scored
    rounds = [note for note in notes if note["about"] == ROUND]
    return Bill(
        begun=tuple([note for note in notes if note["about"] == BEGINS][-1:]),
        finished=bool(notes) and notes[-1]["about"] == ENDS,
        read=len(read),
        copied=len(scored & copies),
        not_scored=len(skipped),
        tokens_read=_sum(tokens[key] for key in read),
        tokens_not_read=_sum(tokens[key] for key in skipped | (scored & copies)),
        seconds=sum(float(note.get("seconds") or 0) for note in rounds),
        timed=sum(int(note.get("read") or 0) for note in rounds),
    )


def _joined(names: Iterable[Any]) -> str | None:
    return " and ".join(dict.fromkeys(map(str, names))) or None


def _tokens(record: dict[str, Any]) -> int | None:
    """The tokens of a response, from the server or from the imported table."""
    row = record.get("row")
    count = record.get("tokens", row.get("tokens") if isinstance(row, dict) else None)
    return count if type(count) is int else None


def _sum(counts: Iterable[int | None]) -> int | None:
    reported = [count for count in counts if count is not None]
    return sum(reported) if reported else None


def bill_lines(name: str, bill: dict[str, Any]) -> list[str]:
    """Return the bill of one verifier, as sentences."""
    total = bill["read"] + bill["copied"] + bill["not_scored"]
    share = bill["read"] / max(1, total)
    same = f", {bill['copied']:,} have the words of one of these" if bill["copied"] else ""
    lines = [
        f"{name} was asked by the rule {bill['rule']} and the plan {bill['plan']}: {bill['read']:,} of {total:,} "
        f"responses ({share:.0%}) were read{same}, {bill['not_scored']:,} were not scored."
    ]
    if bill["tokens_read"] is not None or bill["tokens_not_read"] is not None:
        read, saved = bill["tokens_read"] or 0, bill["tokens_not_read"] or 0
        lines.append(f"  tokens of responses: {read:,} read, {saved:,} saved")
    if bill["seconds_saved"] is not None:
        lines.append(f"  seconds of the verifier: {bill['seconds']:.3g} spent, about {bill['seconds_saved']:.3g} saved")
    if bill["cost"] is not None:
        lines.append(f"  money: {bill['cost']:.4g} spent, {bill['saved']:.4g} saved")
    if not bill["finished"]:
        lines.append("  It is not finished: the same command goes on, and asks nothing twice.")
    return lines


class Billed(NamedTuple):
    """The first note of the last walk over a column (of the first part), and its bill."""

    begun: dict[str, Any]
    bill: dict[str, Any]


def run_bills(folder: Path, price: float | None = None) -> dict[str, Billed]:
    """Return the bills of all columns of a run that were scored on demand; empty for a folder that is not a run.

    The bill of a run in parts is finished if those of all parts are, with the same rule and plan. A part
    without a walk counts as not requested.
    """
    check_price(price)
    folders = _folders(folder)
    columns: set[str] = set()
    for path in folders:
        with Run.open(path) as opened:
            columns |= columns_on_demand(opened)
    if not columns:
        return {}
    total: dict[str, Bill] = {}
    for path in folders:
        with Run.open(path) as opened:
            for column, bill in counted(opened, columns).items():
                total[column] = total[column] + bill if column in total else bill
    return {column: Billed(total[column].begun[0], total[column].as_dict(price)) for column in sorted(columns)}


def _folders(folder: Path) -> list[Path]:
    """The parts of a run in parts, or the run itself."""
    if is_parted_run(folder):
        run = PartedRun.read(folder)
        return [folder / part.name for part in run.finished()]
    return [folder] if (folder / MANIFEST).is_file() else []
