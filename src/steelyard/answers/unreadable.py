"""Report the share of responses without a readable answer, as a warning if it exceeds 5 %."""

from __future__ import annotations

import warnings
from collections import deque

from steelyard.answers.kind import NO_ANSWER
from steelyard.foundation.errors import SteelyardWarning

NO_VOTE = "and cast no vote"
MAX_SHARE = 0.05  # a larger share causes a warning
SHARES: deque[str] = deque(maxlen=20)  # messages about smaller shares; a command prints them at its end


def warn_unreadable(unreadable: int, responses: int, shown: str, cut: int = 0, *, why: str = NO_ANSWER) -> None:
    """Report the share of unreadable answers; `shown` is the command that lists them, `cut` of them were cut off."""
    if not unreadable:
        return
    share = unreadable / responses
    text = f"{100 * share:.1f} % of {responses:,} responses {why} {NO_VOTE}"
    if cut:
        text += f"; {cut:,} of them were cut off by their length limit (finish: length) before they marked one"
    if share > MAX_SHARE:
        warnings.warn(f"{text}: {shown!r} shows them", SteelyardWarning, stacklevel=4)
    else:
        SHARES.append(text)
