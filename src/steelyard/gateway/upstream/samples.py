"""One sample of a request: the choice as the upstream sent it, or the reason why there is none.

Of several responses with the same id and message, the sample with the lowest number counts, whichever arrived first:
the vote must not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import Any, NamedTuple

from steelyard.sampling.llm.completion_json import Choice
from steelyard.sampling.llm.faults import TryError

REPLAY = "the upstream sent the same response again, under the same id"


class Sample(NamedTuple):
    """Sample number `number`; `source` is empty for the only upstream, `reply` is all but the choices of its reply."""

    number: int
    source: str = ""
    choice: Choice | None = None
    raw: dict[str, Any] | None = None  # the choice as it came
    reply: dict[str, Any] | None = None
    error: TryError | None = None
    score: float | None = None
    response: str | None = None  # the id of the reply, where it holds this sample alone
    unscored: str | None = None  # why there is no score although there should be one
    scoring: Mapping[str, Any] | None = None  # the tokens that its score took, where the verifier's server says so
    choices: int = 1  # that its reply was asked for: the usage is that of all of them

    @property
    def message(self) -> dict[str, Any] | None:
        message = self.raw.get("message") if self.raw else None
        return message if isinstance(message, dict) else None


def choices_by_index(content: Any) -> dict[int, dict[str, Any]]:
    """The choices of a reply that `read_reply` has read, by their index; the first of several with one index."""
    choices: dict[int, dict[str, Any]] = {}
    for position, choice in enumerate(content["choices"]):
        if isinstance(choice, dict):
            index = choice.get("index", position)
            if isinstance(index, int):
                choices.setdefault(index, choice)
    return choices


def with_finish_reason(choice: dict[str, Any]) -> dict[str, Any]:
    """A choice with a finish_reason, which clients wait for; "stop" if its upstream sent none."""
    return choice if isinstance(choice.get("finish_reason"), str) else {**choice, "finish_reason": "stop"}


class Replays:
    """The samples of one request by the ids of their responses.

    A cascade looks at all samples of a source together, so it does not matter which of two equal ones counts: with
    `take_back=False` the first to arrive counts.
    """

    def __init__(self, *, take_back: bool = True) -> None:
        self._take_back = take_back
        self._first: dict[tuple[str, str], list[Sample]] = {}  # by id, one of each message

    def resolve(self, sample: Sample) -> list[Sample]:
        """Add a sample; return what changes: the sample, marked as failed if it is a replay, or an earlier replay."""
        if sample.response is None or sample.choice is None:
            return [sample]
        same_id = self._first.setdefault((sample.source, sample.response), [])
        position = next((at for at, one in enumerate(same_id) if _message(one) == _message(sample)), None)
        if position is None:
            same_id.append(sample)
            return [sample]
        earlier = same_id[position]
        if earlier.number < sample.number or not self._take_back:
            return [_replay(sample)]
        same_id[position] = sample
        return [_replay(earlier), sample]


def _message(sample: Sample) -> str:
    return dumps((sample.raw or {}).get("message"), sort_keys=True)


def _replay(sample: Sample) -> Sample:
    return Sample(sample.number, sample.source, error=TryError(REPLAY))
