"""A ballot for people and for programs: the samples, the answers, the verdict, and how it was reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.cli import show
from steelyard.cli.arrivals import said
from steelyard.evaluation.percentages import percent

if TYPE_CHECKING:
    from steelyard.jobs.ask import Outcome
    from steelyard.llm.draws import Draw


class About(NamedTuple):
    """What was asked of whom, and how the samples were weighed."""

    question: str
    model: str
    method: str
    score: str | None
    plan: str | None

    @property
    def how(self) -> str:
        """How the verdict was reached, in a sentence."""
        if self.plan:
            return f"Weighed by the plan {self.plan}: {self.method}" + (f" on {self.score}." if self.score else ".")
        if self.method == "vanilla":
            return (
                f"No plan: each response weighs its score {self.score}, exp(mean log-probability) (vanilla vote). "
                f"A plan fitted with --score {self.score} weighs by what that score is worth."
            )
        return "No plan and no scores: each response counts once (majority vote)."


def show_ballot(ballot: Outcome, draws: Sequence[Draw], about: About) -> None:
    """Print the samples, the answers with their votes, and the verdict."""
    rows = [
        (
            str(vote.sample),
            said(draw, vote.answer),
            show.value(vote.score) if vote.score is not None else "-",
            f"{vote.weight:+.3f}" if vote.weight is not None else "-",
            str(draw.choice.tokens) if draw.choice and draw.choice.tokens is not None else "-",
        )
        for draw, vote in zip(draws, ballot.votes, strict=True)
    ]
    title = f"{len(draws)} samples of {about.model}: {show.shortened(about.question, 60)}"
    show.table(title, ("sample", "answer", about.score or "score", "weight", "tokens"), rows)
    best = [one.answer for one in ballot.answers].index(ballot.answer) if ballot.answer is not None else None
    totals = [(show.shortened(one.answer, 40), str(one.votes), f"{one.weight:+.3f}") for one in ballot.answers]
    if totals:
        show.table(f"Answers by weight ({about.method})", ("answer", "votes", "weight"), totals, best=best)
    if ballot.answer is None:
        show.say("Verdict: none, because no sample has an answer that can be read.")
    else:
        readable = sum(one.votes for one in ballot.answers)
        votes = ballot.answers[best or 0].votes
        show.say(
            f"Verdict: {show.shortened(ballot.answer, 200)}   ({votes} of {readable} votes, "
            f"confidence {percent(ballot.confidence)} %, margin {ballot.margin:.3f})"
        )
    show.say(about.how)


def as_object(ballot: Outcome, draws: Sequence[Draw], about: About) -> dict[str, Any]:
    """The same as one object for --json."""
    return {
        **about._asdict(),
        "answer": ballot.answer,
        "confidence": ballot.confidence,
        "share": ballot.share,
        "margin": ballot.margin,
        "how": about.how,
        "answers": [one._asdict() for one in ballot.answers],
        "samples": [
            {
                **vote._asdict(),
                "response": draw.choice.text if draw.choice else None,
                "finish": draw.choice.finish if draw.choice else None,
                "tokens": draw.choice.tokens if draw.choice else None,
                "failure": draw.reason,
            }
            for draw, vote in zip(draws, ballot.votes, strict=True)
        ],
    }
