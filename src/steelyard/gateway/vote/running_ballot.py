"""The ballot of one request while its samples come: counted here where that is quick, else in a thread."""

from __future__ import annotations

import math

from steelyard.answers.reader import AnswerReader
from steelyard.gateway.vote.counting import Counted, Counting, needs_checker
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.standing import Standing
from steelyard.voting.methods.base.method import Method


class RunningBallot:
    """The ballot of one request by its stopping rule, while samples come; it goes by their numbers, not their order."""

    def __init__(self, counting: Counting, voter: Method, kind: str, until: float = math.inf) -> None:
        self.counting, self.voter, self.kind, self.until = counting, voter, kind, until
        self.counted: list[Counted] = []
        self._seen = 0  # how many of them the standing goes by
        self._ballot = Ballot(voter, answers=AnswerReader(kind))
        self.standing = self._ballot.standing

    async def add(self, *more: Counted) -> Standing:
        """Count samples, and those before them whose counting was broken off."""
        self.counted += more
        if len(self.counted) == self._seen:
            return self.standing
        answers = [each.answer for each in self.counted]
        if not needs_checker(self.kind, answers):
            self.standing = [_added(self._ballot, one) for one in self.counted[self._seen :]][-1]
        else:
            self.standing = await self.counting.run(self.kind, answers, self._anew, self.until)
        self._seen = len(answers)
        return self.standing

    def _anew(self, reader: AnswerReader) -> Standing:
        ballot = Ballot(self.voter, answers=reader)
        return [_added(ballot, one) for one in self.counted][-1]


def _added(ballot: Ballot, one: Counted) -> Standing:
    return ballot.add(one.answer, one.score, one.number, one.source or None)
