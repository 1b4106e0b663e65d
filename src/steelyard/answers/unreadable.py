"""What is said of responses without a readable answer: their share, and above 5 % a warning."""

from __future__ import annotations

import warnings

from steelyard.errors import SteelyardNote, SteelyardWarning

MOST = 0.05  # a larger share is worth a warning


class UnreadableShare(SteelyardNote):
    """A share of unreadable answers that is nothing to worry about: told when all else is said."""


def tell_unreadable(unreadable: int, responses: int, shown: str) -> None:
    """Tell the share of unreadable answers; `shown` is the command that shows them."""
    if not responses:
        return
    share = unreadable / responses
    text = f"{100 * share:.1f} % of {responses:,} responses have no readable answer"
    if share > MOST:
        warnings.warn(f"{text} and cast no vote: {shown!r} shows them", SteelyardWarning, stacklevel=4)
    elif unreadable:
        warnings.warn(f"{text} and cast no vote", UnreadableShare, stacklevel=4)
