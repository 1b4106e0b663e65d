"""Every error as OpenAI's clients read it: a status and {"error": {"message", "type", "param", "code"}}."""

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
DO_NOT_RETRY = {"x-should-retry": "false"}  # what OpenAI's clients obey
LEAST_WAIT = 1  # seconds
_STATUS = re.compile(r"HTTP [1-5]\d\d\b")
CAUSES: dict[type[TryError], str] = {  # the first that an error is an instance of: subclasses come first
    BusyError: "the upstream is busy",
    CertificateError: "the upstream's certificate is not trusted",
    GoneError: "no connection to the upstream",
    LateError: "the upstream did not answer in time",
    SpentError: "the upstream did not answer in time",
    TooLargeError: "the upstream's reply is too long",
    RefusedError: "the upstream refused the request",
    TryError: "the upstream gave no usable reply",
}
LONGEST_PAUSE = 60.0  # seconds that an upstream is left alone, whatever it asks for: then one request tries it again
_ADDRESS = re.compile(
    r"[a-z]+://[^\s,;'\"]*[^\s,;:.'\"]|\('[^']*', \d+[^)]*\)|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]\w)",
    re.IGNORECASE,
)
_FILE = re.compile(r"(?<![\w.:/\\-])(?:~|/[\w.+-]+)/[\w.+-][\w.+/-]*")  # of a server: /srv/models/x, ~/x


class ApiError(Exception):
    """A request that is answered with an error; `param` names the field that is wrong.

    `cause` is for the log, where a message that quotes the upstream does not belong.
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
        """What stands in the reply, and in a stream that was begun.

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
    """The error of a field that cannot be."""
    return ApiError(400, message, param=param)


def busy(status: int, message: str, wait: float | None = None, headers: Mapping[str, str] | None = None) -> ApiError:
    """The error of a server that has no time now, with the seconds after which to come back."""
    seconds = max(LEAST_WAIT, math.ceil(wait or 0))
    return ApiError(status, message, code="overloaded", headers={"Retry-After": str(seconds), **(headers or {})})


def public(reason: str) -> str:
    """A reason without the addresses that the operator's servers have, and without the paths of their files.

    >>> public("no connection to http://10.0.0.7:8000/v1: connection refused")
    'no connection to its address: connection refused'
    >>> public("10.0.0.7:5432 has no /srv/models/llama.bin, version 1.2.3 of a/b")
    'its address has no (a file), version 1.2.3 of a/b'
    """
    return _FILE.sub("(a file)", _ADDRESS.sub("its address", reason))


def of_fault(error: TryError) -> ApiError:
    """What a client is told of an upstream that gave nothing: its own status where the client is at fault.

    We have tried again already where that could help, so the client shall not.
    """
    answer = _answer_to(error)
    status = _STATUS.match(error.reason)
    cause = next(text for kind, text in CAUSES.items() if isinstance(error, kind))
    answer.cause = f"{cause} ({status[0]})" if status else cause
    return answer


def _answer_to(error: TryError) -> ApiError:
    told = f"the upstream gave no response: {public(error.reason)}"
    if isinstance(error, RefusedError):
        if error.status == NO_CREDIT:
            return ApiError(429, told, code="insufficient_quota", headers=DO_NOT_RETRY)
        status = error.status if 400 <= error.status < 500 else 502
        return ApiError(status, told, code="upstream_refused", headers=DO_NOT_RETRY)
    if isinstance(error, BusyError):
        wait = min(error.wait or 0.0, LONGEST_PAUSE)
        return busy(429 if "HTTP 429" in error.reason else 503, told, wait, DO_NOT_RETRY)
    if isinstance(error, LateError | SpentError):
        return ApiError(504, told, code="upstream_timeout", headers=DO_NOT_RETRY)
    return ApiError(502, told, code="upstream_error", headers=DO_NOT_RETRY)
