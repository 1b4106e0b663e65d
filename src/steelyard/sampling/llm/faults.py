"""What can go wrong with one request, by what to do about it.

TryError                this try gave no sample; another may
├── BusyError           the server asks us to come back later (429, 503)
├── GoneError           there is no connection to the server
│   ├── CertificateError  its certificate is not trusted: expired, self-signed, of another host
│   └── ProxyError      the proxy before it cannot be reached, or refuses
├── LateError           no answer came in time
├── SpentError          the time for all tries is over
├── TooLargeError       the reply is longer than we read; fewer samples per request may fit
├── StatusError         the server answered with an HTTP error that may pass (500, 502, 408)
└── RefusedError        asking the same again cannot help (400, 401, 404, 422, a redirect)

They never leave the I/O wing: a job turns them into failed samples, or into one UpstreamError.
"""

from __future__ import annotations

from typing import TypeVar

NO_CREDIT = 402  # also what a 429 is that no waiting helps against: the quota is used up
NOT_OURS = frozenset({401, NO_CREDIT, 403, 404, 405, 407})  # wrong for every question, not for this one


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


class PutOffError(BusyError):
    """The server asks for more time than there is."""


class GoneError(TryError):
    """There is no connection to the server."""


class CertificateError(GoneError):
    """The server's certificate is not trusted."""


class ProxyError(GoneError):
    """The proxy before the server cannot be reached, or refuses to connect to it."""


class LateError(TryError):
    """No answer came in time."""


class SpentError(TryError):
    """The time for all tries of a request is over."""


class TooLargeError(TryError):
    """The reply is longer than we are willing to read."""


class StatusError(TryError):
    """The server answered with an HTTP error that may pass; `status` is its code."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status


class RefusedError(TryError):
    """The server will not do this; `status` is its code."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status

    @property
    def everywhere(self) -> bool:
        """Whether every other request would be refused as well: a wrong key, model or address."""
        return self.status in NOT_OURS or 300 <= self.status < 400


Fault = TypeVar("Fault", bound=TryError)


def bare(error: Fault) -> Fault:
    """The error without the frames it came through: those hold the body that was read for as long as it is kept."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error
