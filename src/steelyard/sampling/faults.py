"""What can go wrong with one request, by what to do about it.

TryError                this try gave no sample; another may
├── BusyError           the server asks us to come back later (429, 503)
├── GoneError           there is no connection to the server
├── LateError           no answer came in time
├── TooLargeError       the reply is longer than we read; fewer samples a request may fit
└── RefusedError        asking the same again cannot help (400, 401, 404, 422, a redirect)

They never leave the I/O wing: a job turns them into failed samples, or into one UpstreamError.
"""

from __future__ import annotations

NOT_OURS = frozenset({401, 402, 403, 404, 405, 407})  # wrong for every question, not for this one


class TryError(Exception):
    """This try gave no sample; the reason is one line without secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BusyError(TryError):
    """The server asks for time; `wait` is how many seconds it named, if it did."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class GoneError(TryError):
    """There is no connection to the server."""


class LateError(TryError):
    """No answer came in time."""


class TooLargeError(TryError):
    """The reply is longer than we are willing to read."""


class RefusedError(TryError):
    """The server will not do this; `status` is its code."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status

    @property
    def everywhere(self) -> bool:
        """Whether every other request would be refused as well: a wrong key, model or address."""
        return self.status in NOT_OURS or 300 <= self.status < 400
