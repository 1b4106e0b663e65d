"""Responses that decline to answer are distinguished from attempts, however unsure."""

from __future__ import annotations

import pytest

from steelyard.answers.abstentions import abstains

DECLINING = """\
I don't know.
I don’t have reliable information about his place of birth. I'd recommend checking an encyclopedia.
I'm not able to confirm the exact date.
I cannot verify this claim.
I am unable to determine who won the prize in 1952.
I apologize, but I could not find any record of a village of that name.
I'm not familiar with this paper. Could you share more details?
I do not currently have access to that archive.
I have no reliable information on this.
I'm not certain of the exact year.
Would you like me to look it up?
Could you please clarify which Robert Brown you mean?
"""
ANSWERING = """\
Paris
It was **Paris**.
I'm not certain, but I believe it was **Paris**.
I don't know for sure, but it was Paris.
I cannot verify this, but my best guess is 1952.
I'm not sure. It was **Paris**.
I can confirm that it was Paris.
I was able to find it: Paris.
I don't have the exact figure; it is approximately 1,200.
The prize went to Marie Curie in 1903, for her research on radiation, together with Pierre Curie and Henri Becquerel, \
who discovered radioactivity. I cannot verify the exact day.
The answer is 7. I don't know a shorter proof.
"""


@pytest.mark.parametrize("text", DECLINING.splitlines())
def test_a_response_that_declines_abstains(text: str) -> None:
    assert abstains(text)
    assert abstains(text.upper())
    assert abstains(text.replace(" ", "\n", 3))


@pytest.mark.parametrize("text", [*ANSWERING.splitlines(), "", "\0", "\ud800"])
def test_a_response_that_answers_does_not(text: str) -> None:
    assert not abstains(text)


def test_a_long_response_is_read_before_the_test_times_out() -> None:
    for text in ("i " * 500_000, "i don't really " * 70_000, "i'm not " * 100_000, "but it " * 100_000):
        assert not abstains(text)


@pytest.mark.parametrize(
    "text",
    [
        "**Paris**\n\nWould you like me to check the date as well?",
        "**Paris**. Do you want me to look up more?",
        '"I Can\'t Tell You Why" by the Eagles',
        "It's Marie Curie. Could you clarify if you need the second one?",
        "No, I do not have a brother",
        "# I am not sure why\nx = 1",
    ],
)
def test_an_answer_with_such_a_phrase_after_it_or_in_a_title_is_an_attempt(text: str) -> None:
    assert not abstains(text)
