"""Errors as OpenAI's clients read them: a status and {"error": {"message", "type", "param", "code"}}."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from steelyard.sampling.llm.faults import (
    NO_CREDIT,
    BusyError,
    CertificateError,
    GoneError,
    LateError,
    RefusedError,
    SpentError,
    TooLargeError,
    TryError,
)

INVALID = "invalid_request_error"
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
DO_NOT_RETRY = {"x-should-retry": "false"}  # read by OpenAI's clients
MIN_WAIT = 1  # seconds
_STATUS = re.compile(r"HTTP [1-5]\d\d\b")
CAUSES: dict[type[TryError], str] = {  # the first match counts: subclasses come first
    BusyError: "the upstream is busy",
    CertificateError: "the upstream's certificate is not trusted",
    GoneError: "no connection to the upstream",
    LateError: "the upstream did not answer in time",
    SpentError: "the upstream did not answer in time",
    TooLargeError: "the upstream's reply is too long",
    RefusedError: "the upstream refused the request",
    TryError: "the upstream gave no usable reply",
}
LONGEST_PAUSE = 60.0  # seconds that an upstream may pause; then one request tests it again
_ADDRESS = re.compile(
    r"[a-z]+://[^\s,;'\"]*[^\s,;:.'\"]|\('[^']*', \d+[^)]*\)|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]\w)",
    re.IGNORECASE,
)
_FILE = re.compile(r"(?<![\w.:/\\-])(?:~|/[\w.+-]+)/[\w.+-][\w.+/-]*")  # of a server: /srv/models/x, ~/x


class ApiError(Exception):
    """A request that is answered with an error; `param` names the field that is wrong.

    `cause` is for the log, which must not contain messages that quote the upstream.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        cause: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code
        self.cause = cause
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        """The JSON of the error, in a reply or in a stream that has started.

        >>> ApiError(400, "n must be a whole number", param="n").body["error"]["type"]
        'invalid_request_error'
        """
        kind = TYPES.get(self.status, INVALID if self.status < 500 else "server_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> web.Response:
        return web.Response(
            body=json.dumps(self.body).encode(), status=self.status, content_type="application/json",
            headers=self.headers,
        )  # fmt: skip


def invalid(param: str, message: str) -> ApiError:
    return ApiError(400, message, param=param)


def busy(status: int, message: str, wait: float | None = None, headers: Mapping[str, str] | None = None) -> ApiError:
    """The error of an overloaded server, with a Retry-After in seconds."""
    seconds = max(MIN_WAIT, math.ceil(wait or 0))
    return ApiError(status, message, code="overloaded", headers={"Retry-After": str(seconds), **(headers or {})})


def public(reason: str) -> str:
    """A reason without the addresses and file paths of the operator's servers.

    >>> public("no connection to http://10.0.0.7:8000/v1: connection refused")
    'no connection to its address: connection refused'
    >>> public("10.0.0.7:5432 has no /srv/models/llama.bin, version 1.2.3 of a/b")
    'its address has no (a file), version 1.2.3 of a/b'
    """
    return _FILE.sub("(a file)", _ADDRESS.sub("its address", reason))


def from_fault(error: TryError) -> ApiError:
    """The error for a failed upstream; its own status code if the client's request is at fault.

    We have already retried where that could help, so the client should not.
    """
    api_error = _error_for(error)
    status = _STATUS.match(error.reason)
    cause = next(text for kind, text in CAUSES.items() if isinstance(error, kind))
    api_error.cause = f"{cause} ({status[0]})" if status else cause
    return api_error


def _error_for(error: TryError) -> ApiError:
    message = f"the upstream gave no response: {public(error.reason)}"
    if isinstance(error, RefusedError):
        if error.status == NO_CREDIT:
            return ApiError(429, message, code="insufficient_quota", headers=DO_NOT_RETRY)
        status = error.status if 400 <= error.status < 500 else 502
        return ApiError(status, message, code="upstream_refused", headers=DO_NOT_RETRY)
    if isinstance(error, BusyError):
        wait = min(error.wait or 0.0, LONGEST_PAUSE)
        return busy(429 if "HTTP 429" in error.reason else 503, message, wait, DO_NOT_RETRY)
    if isinstance(error, LateError | SpentError):
        return ApiError(504, message, code="upstream_timeout", headers=DO_NOT_RETRY)
    return ApiError(502, message, code="upstream_error", headers=DO_NOT_RETRY)
