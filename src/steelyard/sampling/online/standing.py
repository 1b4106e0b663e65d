"""How a question stands after some of its samples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Standing:
    """How a question stands after some samples.

    >>> from steelyard import Ballot, MajorityVote
    >>> stands = Ballot(MajorityVote()).add("7")
    >>> stands.verdict, stands.votes, stands.stop
    ('7', 1, False)
    """

    verdict: str | None  # None: no readable answer yet
    confidence: float | None  # the probability that the verdict is correct; None: the method learned none
    share: float  # of the readable answers, those that gave the verdict
    margin: float
    votes: int  # for the verdict
    samples: int  # counted so far
    stop: bool
    why: str  # one line
    next: tuple[str, ...] = ()  # the sources to ask now, by the plan's cascade
