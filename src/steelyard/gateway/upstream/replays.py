"""Responses that an upstream sends again under the same id: of those the sample with the lowest number counts.

Which of them came first says nothing: the vote must be the same however they arrive.
"""

from __future__ import annotations

from json import dumps

from steelyard.gateway.messages.samples import Sample
from steelyard.sampling.llm.faults import TryError

REPLAY = "the upstream sent the same response again, under the same id"


class Replays:
    """Knows the samples of one request by the ids of their responses.

    A cascade looks at all samples of a source together, so that it does not matter which of two equal ones counts:
    there none is taken back.
    """

    def __init__(self, *, take_back: bool = True) -> None:
        self._take_back = take_back
        self._first: dict[tuple[str, str], list[Sample]] = {}  # by id, one of each message

    def sorted_out(self, sample: Sample) -> list[Sample]:
        """What a sample changes: it is as it came or a replay, and one that came before it may turn out to be one."""
        if sample.response is None or sample.choice is None:
            return [sample]
        same_id = self._first.setdefault((sample.source, sample.response), [])
        place = next((at for at, one in enumerate(same_id) if _message(one) == _message(sample)), None)
        if place is None:
            same_id.append(sample)
            return [sample]
        known = same_id[place]
        if known.number < sample.number or not self._take_back:
            return [_replay(sample)]
        same_id[place] = sample
        return [_replay(known), sample]


def _message(sample: Sample) -> str:
    return dumps((sample.raw or {}).get("message"), sort_keys=True)


def _replay(sample: Sample) -> Sample:
    return Sample(sample.number, sample.source, error=TryError(REPLAY))
