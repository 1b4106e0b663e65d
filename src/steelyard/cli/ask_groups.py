"""The output of `steelyard ask` on free text: the samples, the groups of similar ones, and the response that wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.cli import console
from steelyard.cli.arrivals import answer_text, numbered
from steelyard.cli.ask_view import AskInfo
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent

if TYPE_CHECKING:
    from steelyard.sampling.ask.sample_stream import Draw
    from steelyard.sampling.ask.sample_votes import Outcome


def show_groups(ballot: Outcome, draws: Sequence[Draw], info: AskInfo) -> None:
    """Print the samples, their groups, and the winning response in full."""
    number = {one.answer: i for i, one in enumerate(ballot.answers, 1)}
    rows = [
        (
            numbered(vote.sample, vote.source),
            answer_text(draw, draw.choice.text.strip() if draw.choice and vote.answer is not None else None),
            "-" if vote.answer is None else str(number[vote.answer]),
            "-" if vote.score is None else console.value(vote.score),
            "-" if vote.weight is None else f"{vote.weight:+.3f}",
        )
        for draw, vote in zip(draws, ballot.votes, strict=True)
    ]
    title = f"{len(draws)} samples of {info.model}: {console.shortened(info.question, 60)}"
    print_table(title, ("sample", "response", "group", info.score or "score", "weight"), rows)
    groups = [
        (str(i), console.shortened(one.answer, 60), str(one.votes), f"{one.weight:+.3f}")
        for i, one in enumerate(ballot.answers, 1)
    ]
    title = f"Groups of similar responses by weight ({info.method})"
    print_table(title, ("group", "response most like the others", "responses", "weight"), groups, best=0)
    winner = ballot.votes[ballot.leaders[0]]
    readable = sum(one.votes for one in ballot.answers)
    measure = "vote share" if ballot.confidence is None else "confidence"
    sure = percent(ballot.share if ballot.confidence is None else ballot.confidence)
    alike = f"{ballot.answers[0].votes} of {readable} responses are similar"
    console.say(
        f"Verdict: sample {numbered(winner.sample, winner.source)}   ({alike}, {measure} {sure} %, "
        f"margin {ballot.margin:.3f})"
    )
    console.say(f"\n{ballot.answer}\n")
    console.say(info.how)
