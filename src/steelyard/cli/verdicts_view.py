"""What `vote` reports: the first verdicts, and how their error is controlled."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.evaluation.percentages import percent

if TYPE_CHECKING:
    from steelyard.engine.vote_parts import VotedParts
    from steelyard.foundation.store_address import Place
    from steelyard.tables.vote import VoteDetails
    from steelyard.voting.confidence.risk_control import RiskControl

SHOWN = 10


def show_verdicts(found: VoteDetails, output: Place | None, json: bool) -> None:
    """Print the first verdicts, which part was answered and where they were written."""
    verdicts, voter, empty, held = found
    if json:
        listed: dict[str, Any] = {} if output else {"verdicts": verdicts.to_dicts()}
        listed |= {"risk_control": asdict(held), "answered": int(verdicts["answered"].sum())} if held else {}
        show.as_json({"method": voter.name, "questions": verdicts.height, "without_answer": empty, **listed})
        return
    learned = verdicts["confidence"].null_count() < verdicts.height
    rows = [
        (
            show.shortened(row["question"], 40),
            show.shortened(str(row["answer"]), 40),
            *([percent(row["confidence"])] if learned else []),
            percent(row["share"]),
            f"{row['margin']:.2f}",
            str(row["votes"]),
        )
        for row in verdicts.head(SHOWN).iter_rows(named=True)
    ]
    heads = ("question", "answer", *(["confidence %"] if learned else []), "share %", "margin", "votes")
    all_of = f"The first {SHOWN} of {verdicts.height:,} verdicts" if verdicts.height > SHOWN else "The verdicts"
    show.table(f"{all_of}, by {voter.name}", heads, rows)
    if held:
        show.say(_answered(held, int(verdicts["answered"].sum()), verdicts.height))
    if empty:
        show.say(f"{empty} questions have no readable answer: their verdict is null.")
    show.say(f"Verdicts written to {output}" if output else "Not saved: add -o verdicts.parquet to keep them.")


def show_voted_parts(found: VotedParts, output: Place, json: bool) -> None:
    """Print what became of all parts of a folder."""
    if json:
        show.as_json(found.summary())
        return
    show.say(f"{found.questions:,} questions decided by {found.voter.name}, from {found.responses:,} responses")
    if found.risk_control:
        show.say(_answered(found.risk_control, found.answered, found.questions))
    if found.without_answer:
        show.say(f"{found.without_answer:,} questions have no readable answer: their verdict is null.")
    show.say(f"Verdicts written to {output}, one part for every part that was read")


def _answered(held: RiskControl, answered: int, questions: int) -> str:
    return (
        f"Answered {answered / max(1, questions):.0%} of the questions, those with a confidence of "
        f"{held.threshold:.0%} or more: at most {held.risk:.0%} of these are wrong, with a probability of "
        f"{held.confidence_level:.0%}, if the questions are like the {held.questions} reserved ones "
        f"({held.coverage:.0%} answered, {held.error:.1%} wrong there)."
    )
