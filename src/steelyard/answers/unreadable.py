"""What is said of responses without a readable answer: their share, and above 5 % a warning."""

from __future__ import annotations

import warnings
from collections import deque

from steelyard.foundation.errors import SteelyardWarning

MOST = 0.05  # a larger share is worth a warning
SHARES: deque[str] = deque(
    maxlen=20
)  # smaller ones of the last tables that were read, for a command to tell at its end


def tell_unreadable(unreadable: int, responses: int, shown: str, cut: int = 0) -> None:
    """Tell the share of unreadable answers; `shown` is the command that shows them, `cut` of them were cut off."""
    if not unreadable:
        return
    share = unreadable / responses
    text = f"{100 * share:.1f} % of {responses:,} responses have no readable answer and cast no vote"
    if cut:
        text += f"; {cut:,} of them were cut off by their length limit (finish: length) before they marked one"
    if share > MOST:
        warnings.warn(f"{text}: {shown!r} shows them", SteelyardWarning, stacklevel=4)
    else:
        SHARES.append(text)
