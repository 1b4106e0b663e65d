"""Why a connection broke, or did not come about, in a few words for the user."""

from __future__ import annotations

import os
import re
import ssl

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientPayloadError,
    ClientResponseError,
    ServerDisconnectedError,
)

CUT = "it ended before the reply did"
NO_HTTP = "it does not speak HTTP"
CALL = "Connect call failed"  # how asyncio says it, once for every address that was tried
_NUMBER = re.compile(r"\[Errno (\d+)\]")


def cause(error: BaseException) -> str:
    """A short reason in words; paths, addresses and long lists of bytes are of no use to the user.

    >>> cause(OSError(111, "Connect call failed ('127.0.0.1', 9)"))
    'connection refused'
    >>> cause(OSError("Multiple exceptions: [Errno 111] Connect call failed (..), [Errno 101] Connect call failed"))
    'connection refused, network is unreachable'
    """
    if isinstance(error, ClientConnectorError):
        error = error.os_error
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return f"it does not speak TLS as we do ({error.reason.replace('_', ' ').lower()})"
    if isinstance(error, ClientError) and (reason := _reply_cause(error)):
        return reason
    if isinstance(error, OSError) and CALL in str(error):
        return ", ".join(os.strerror(int(number)).lower() for number in dict.fromkeys(_NUMBER.findall(str(error))))
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error).partition("\n")[0].strip() or type(error).__name__


def _reply_cause(error: ClientError) -> str:
    """What is wrong with a reply; empty where it did not even begin to come."""
    if isinstance(error, ClientResponseError):
        return NO_HTTP
    return CUT if isinstance(error, ClientPayloadError | ServerDisconnectedError) else ""
