"""How many choices an upstream is asked for at once: what is believed of it, on which evidence, and for how long."""

from __future__ import annotations

import pytest

from steelyard.gateway import most_choices
from steelyard.gateway.most_choices import MostChoices

NAMED = "HTTP 400: n must be 1"


def test_a_short_reply_is_believed_at_once_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    known = MostChoices()
    known.gave(1, 8)
    assert known.of(8) == 1
    monkeypatch.setattr("time.monotonic", lambda: most_choices.BELIEVED + 1e9)
    assert known.of(8) == 8


@pytest.mark.parametrize(
    ("refusals", "most"),
    [
        ([("HTTP 400: stop and tools cannot be combined", "a"), ("HTTP 400: the same again", "b")], 8),
        ([(NAMED, "a")], 8),
        ([(NAMED, "a"), (NAMED, "a")], 8),  # several calls of one request
        ([(NAMED, "a"), (NAMED, "b")], 1),
    ],
)
def test_a_refusal_is_believed_when_two_requests_in_a_row_name_n(refusals: list[tuple[str, str]], most: int) -> None:
    known = MostChoices()
    for reason, request in refusals:
        known.refused(reason, request)
    assert known.of(8) == most


def test_a_whole_reply_between_two_refusals_says_that_n_works() -> None:
    known = MostChoices()
    known.refused(NAMED, "a")
    known.gave(8, 8)
    known.refused(NAMED, "b")
    assert known.of(8) == 8
