"""What the user can do about a server that gives nothing: the advice fits what went wrong."""

from __future__ import annotations

from steelyard.foundation.errors import UpstreamError
from steelyard.sampling.llm.faults import (
    NO_CREDIT,
    BusyError,
    CertificateError,
    GoneError,
    ProxyError,
    RefusedError,
    SpentError,
    TryError,
)


def advice(error: TryError, model: str | None = None) -> str:
    """What to do about a fault; empty where only the server's own words can help.

    >>> advice(RefusedError("HTTP 429: You exceeded your current quota", NO_CREDIT))
    'the quota of this key is used up: add credit, or use another key'
    """
    if isinstance(error, RefusedError):
        called = "" if model is None else f"is the model called {model!r} there, and "
        return REFUSED.get(error.status, "").format(called=called)
    return next(told for kind, told in FAILED.items() if isinstance(error, kind))


def refusal(base: str, error: RefusedError, model: str) -> UpstreamError:
    """The error of a server that will sample nothing."""
    told = advice(error, model)
    return UpstreamError(f"{base} refuses to sample: {error.reason}{'; ' * bool(told)}{told}")


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
    TryError: "see what the server's own log says, or correct --upstream",
}  # the narrower first
