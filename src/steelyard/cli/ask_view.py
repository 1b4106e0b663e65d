"""The output of `steelyard ask`: the samples, the answers, the verdict, how it was reached, and who was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.cli import console
from steelyard.cli.arrivals import answer_text, numbered
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent, tenths

if TYPE_CHECKING:
    from steelyard.sampling.ask.ask_cascade import CascadeTurns
    from steelyard.sampling.ask.ask_verifier import ReadBy
    from steelyard.sampling.ask.sample_stream import Draw
    from steelyard.sampling.ask.sample_votes import Outcome, Vote


class AskInfo(NamedTuple):
    """What was asked of whom, and how the samples were weighed."""

    question: str
    model: str
    method: str
    score: str | None
    plan: str | None
    upstreams: list[str]  # the names of several

    @property
    def _meaning(self) -> str:
        return ", exp(mean log-probability)" if self.score == "self_logprob" else ""

    @property
    def how(self) -> str:
        """How the verdict was reached, in a sentence."""
        if self.plan and self.method == "cascade":
            return f"Sources are asked in turn, and weighted, by the cascade of the plan {self.plan}."
        if self.plan:
            return f"Weighted by the plan {self.plan}: {self.method}" + (f" on {self.score}." if self.score else ".")
        if self.method == "vanilla":
            return (
                f"No plan: each response is weighted by its score {self.score}{self._meaning} (vanilla vote). "
                f"A plan fitted with --score {self.score} learns what that score is worth."
            )
        if len(self.upstreams) > 1:
            return (
                "No plan: each response counts once, whatever its source (majority vote). "
                "A plan fitted on a run of these upstreams learns a weight for each of them."
            )
        return "No plan and no scores: each response counts once (majority vote)."


def show_ballot(ballot: Outcome, draws: Sequence[Draw], info: AskInfo) -> None:
    """Print the samples, the answers with their votes, and the verdict; probabilities where the method has them."""
    likely = ballot.none_correct is not None
    read = any(vote.verifier for vote in ballot.votes)
    rows = [
        (
            numbered(vote.sample, vote.source),
            answer_text(draw, vote.answer),
            console.value(vote.score) if vote.score is not None else "-",
            _worth(vote, likely),
            *([console.shortened(vote.verifier or "-", 30)] if read else []),
            str(draw.choice.tokens) if draw.choice and draw.choice.tokens is not None else "-",
        )
        for draw, vote in zip(draws, ballot.votes, strict=True)
    ]
    title = f"{len(draws)} samples of {info.model}: {console.shortened(info.question, 60)}"
    worth = "loss without it" if likely else "weight"
    print_table(
        title, ("sample", "answer", info.score or "score", worth, *(["verifier"] if read else []), "tokens"), rows
    )
    best = [one.answer for one in ballot.answers].index(ballot.answer) if ballot.answer is not None else None
    if ballot.answers:
        _show_answers(ballot, info, best)
    if ballot.answer is None:
        console.say("Verdict: none, because no sample has a readable answer.")
    else:
        readable = sum(one.votes for one in ballot.answers)
        votes = ballot.answers[best or 0].votes
        sure = f"{_shares(ballot)[best or 0] / 10:.1f}" if likely else percent(ballot.confidence)
        measure = f"vote share {percent(ballot.share)}" if ballot.confidence is None else f"confidence {sure}"
        console.say(
            f"Verdict: {console.shortened(ballot.answer, 200)}   ({votes} of {readable} votes, "
            f"{measure} %{'' if likely else f', margin {ballot.margin:.3f}'})"
        )
    console.say(info.how)


def show_reading(reading: ReadBy) -> None:
    """Say how many samples the verifier read, and why not the others."""
    rest = f"; {reading.not_scored} were not scored: {reading.why} (rule {reading.rule})" if reading.not_scored else ""
    console.say(f"{reading.verifier} read {reading.read} of {reading.total} samples{rest}.")


def _worth(vote: Vote, likely: bool) -> str:
    """The weight of a sample, or the points of probability that its answer would lose without it."""
    if likely:
        return "-" if vote.loss is None else f"{100 * vote.loss:+.1f} points"
    return "-" if vote.weight is None else f"{vote.weight:+.3f}"


def _show_answers(ballot: Outcome, info: AskInfo, best: int | None) -> None:
    """The answers by probability, which add up to 100 % with "none of these", or by weight."""
    votes_by = [f"{one.votes}{_givers(ballot, one.answer)}" for one in ballot.answers]
    if ballot.none_correct is None:
        totals = [
            (console.shortened(one.answer, 40), votes, f"{one.weight:+.3f}")
            for one, votes in zip(ballot.answers, votes_by, strict=True)
        ]
        print_table(f"Answers by weight ({info.method})", ("answer", "votes", "weight"), totals, best=best)
        return
    names = [(console.shortened(one.answer, 40), votes) for one, votes in zip(ballot.answers, votes_by, strict=True)]
    shown = [
        (name, votes, f"{share / 10:.1f} %")
        for (name, votes), share in zip((*names, ("none of these", "-")), _shares(ballot), strict=True)
    ]
    print_table(f"Answers by probability ({info.method})", ("answer", "votes", "probability"), shown, best=best)


def _givers(ballot: Outcome, answer: str) -> str:
    """Who gave an answer, and how often, where several upstreams were asked."""
    who = Counter(vote.source for vote in ballot.votes if vote.answer == answer and vote.source)
    return f" ({', '.join(f'{name} ×{votes}' for name, votes in sorted(who.items()))})" if who else ""


def _shares(ballot: Outcome) -> list[int]:
    """The probabilities of the answers and of none of them, in tenths of a per cent that add up to 1000."""
    return tenths([*(one.probability or 0.0 for one in ballot.answers), ballot.none_correct or 0.0])


def as_object(ballot: Outcome, draws: Sequence[Draw], info: AskInfo) -> dict[str, Any]:
    """The same as one object for --json."""
    return {
        **info._asdict(),
        "answer": ballot.answer,
        "confidence": ballot.confidence,
        "share": ballot.share,
        "margin": ballot.margin,
        "none_correct": ballot.none_correct,
        "how": info.how,
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


def show_turns(outcome: CascadeTurns) -> None:
    """Print a line per source, and the cost by the plan's prices."""
    rows = [
        (
            turn.source,
            "yes" if turn.sampled else "no",
            str(turn.samples) if turn.sampled else "-",
            f"{turn.tokens:.0f}" if turn.sampled else "-",
            "-" if turn.cost is None else f"{turn.cost:.4g}",
            turn.why,
        )
        for turn in outcome.turns
    ]
    heads = ("source", "sampled", "samples", "tokens", "cost", "why")
    print_table(f"Sources asked: {outcome.described}", heads, rows, text=True)
    if outcome.cost is None:
        console.say("Cost: unknown, because the plan was made from a column of costs and has no prices.")
    else:
        console.say(f"Cost: {outcome.cost:.4g}, by the prices of the plan.")


def turns_object(outcome: CascadeTurns) -> dict[str, Any]:
    """The same for --json."""
    return {"steps": outcome.described, "cost": outcome.cost, "sources": [turn._asdict() for turn in outcome.turns]}
