"""The errors of one request, by what to do about them; the server's own message, and advice for the user.

TryError                this try failed; another may work
├── BusyError           the server asks to retry later (429, 503)
├── GoneError           there is no connection to the server
│   ├── CertificateError  its certificate is not trusted: expired, self-signed, of another host
│   └── ProxyError      the proxy in front of it cannot be reached, or refuses
├── LateError           no reply in time
├── SpentError          the deadline of all tries has passed
├── TooLargeError       the reply exceeds the size limit; fewer samples per request may fit
├── StatusError         a temporary HTTP error (500, 502, 408)
└── RefusedError        a permanent HTTP error: retrying cannot help (400, 401, 404, 422, a redirect)

None of them reaches the user: a job turns them into failed samples, or into one UpstreamError.
"""

from __future__ import annotations

import html
import json
from typing import Any, TypeVar

from steelyard.foundation.errors import UpstreamError
from steelyard.foundation.surrogates import replace_surrogates

NO_CREDIT = 402  # also stands for a 429 that waiting does not end: the quota is used up
NOT_OURS = frozenset({401, NO_CREDIT, 403, 404, 405, 407})  # every question fails, not only this one
MOST_REASON = 2000  # characters of a server's error message, before it is masked and cut


class TryError(Exception):
    """This try failed; the reason is one line without secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BusyError(TryError):
    """The server asks to retry later, after `wait` seconds if it says so."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class PutOffError(BusyError):
    """The server asks for more time than the deadline leaves."""


class GoneError(TryError):
    """There is no connection to the server."""


class CertificateError(GoneError):
    """The server's certificate is not trusted."""


class ProxyError(GoneError):
    """The proxy in front of the server cannot be reached, or refuses to connect to it."""


class LateError(TryError):
    """No reply in time."""


class SpentError(TryError):
    """The deadline of all tries of a request has passed."""


class TooLargeError(TryError):
    """The reply exceeds the size limit."""


class StatusError(TryError):
    """The server replied with a temporary HTTP error; `status` is its code."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status


class RefusedError(TryError):
    """The server replied with a permanent HTTP error; `status` is its code."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status

    @property
    def everywhere(self) -> bool:
        """Whether every other request would be refused as well: a wrong key, model or address."""
        return self.status in NOT_OURS or 300 <= self.status < 400


Fault = TypeVar("Fault", bound=TryError)


def bare(error: Fault) -> Fault:
    """The error without its traceback, whose frames would keep the body that was read in memory."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


def error_message(body: bytes | bytearray) -> str:
    """The message of an error reply; of an HTML page, as proxies send it, the title.

    >>> error_message(b'{"error": {"message": "no such model"}}')
    'no such model'
    >>> error_message(b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>")
    '502 Bad Gateway'
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace")
        content = _title(text) or text
    if isinstance(content, dict):
        content = error_of(content) or ""
    return replace_surrogates(content[:MOST_REASON]) if isinstance(content, str) else ""


def error_of(content: dict[str, Any]) -> str | None:
    """The error message in a JSON object, in the shapes that servers use; None if there is none.

    >>> error_of({"error": True, "message": "no such model"}), error_of({"error": None, "detail": "not found"})
    ('no such model', 'not found')
    """
    values = (content.get(name) for name in ("error", "detail", "message"))
    error = next((value for value in values if value and value is not True), None)
    if isinstance(error, dict):
        error = error.get("message")
    if isinstance(error, list):  # FastAPI: a list of errors
        error = "; ".join(str(part.get("msg", part)) if isinstance(part, dict) else str(part) for part in error[:3])
    return f"{error}"[:MOST_REASON] if error else None


def _title(text: str) -> str:
    """The title of an HTML page; empty if there is none, or it is not HTML."""
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return ""
    _, _, rest = text.replace("<TITLE", "<title").partition("<title")
    return html.unescape(rest.partition(">")[2].partition("<")[0][:MOST_REASON]).strip()


def advice(error: TryError, model: str | None = None) -> str:
    """What the user can do about an error; empty if there is nothing to add to the server's message.

    >>> advice(RefusedError("HTTP 429: You exceeded your current quota", NO_CREDIT))
    'the quota of this key is used up: add credit, or use another key'
    """
    if isinstance(error, RefusedError):
        called = "" if model is None else f"is the model called {model!r} there, and "
        return REFUSED.get(error.status, "").format(called=called)
    return next(text for kind, text in FAILED.items() if isinstance(error, kind))


def refusal(base: str, error: RefusedError, model: str) -> UpstreamError:
    """The error of a server that refuses every request."""
    hint = advice(error, model)
    return UpstreamError(f"{base} refuses to sample: {error.reason}{'; ' * bool(hint)}{hint}")


KEY = "set the key in $OPENAI_API_KEY, or name its variable with --key-env"
REFUSED = {
    401: KEY,
    403: KEY,
    404: "{called}does --upstream end in /v1?",
    NO_CREDIT: "the quota of this key is used up: add credit, or use another key",
}
FAILED = {
    BusyError: "it is busy: try later",
    SpentError: "it is busy: try later",
    ProxyError: "correct that variable, or add the server's host to NO_PROXY",
    CertificateError: (
        "renew or correct the server's certificate, or name trusted certificates in $SSL_CERT_FILE, $SSL_CERT_DIR, "
        "$REQUESTS_CA_BUNDLE or $CURL_CA_BUNDLE"
    ),
    GoneError: "start the server or correct --upstream",
    TryError: "check the server's log, or correct --upstream",
}  # subclasses first
