"""The access log: one JSON line per request, written by its own thread.

A line contains only numbers, routes and error codes: no prompt, no response, no key, no query string. A request never
waits for its line to be written, and never fails because of it. Lines that are lost are counted in the metrics.
"""

from __future__ import annotations

import json
import os
import queue
import stat
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from steelyard.foundation.errors import SettingError
from steelyard.gateway.messages.api_errors import ApiError

STDERR = "-"
CAPACITY = 10_000  # lines waiting to be written
FLUSH = 2.0  # seconds to write the last lines when the server stops
FIRST_LINE = 4096  # bytes read of an existing file
FIELDS = web.RequestKey("access_log_fields", dict[str, Any])


def log_error(request: web.Request, error: ApiError) -> None:
    """Add the code of an error to the line of a request; for a 5xx also its cause."""
    request[FIELDS]["error"] = error.code or error.body["error"]["type"]
    if error.status >= 500:
        request[FIELDS]["cause"] = error.cause or error.message


def log_usage(
    request: web.Request, usage: Mapping[str, Any] | None, samples: int, cost: float | None, currency: str | None
) -> None:
    """Add the samples, tokens and cost of a request to its line; null means unknown."""
    counts = [(usage or {}).get(name) for name in ("prompt_tokens", "completion_tokens")]
    tokens_in, tokens_out = (count if type(count) is int else None for count in counts)
    request[FIELDS] |= {"samples": samples, "tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost}
    if currency is not None:
        request[FIELDS]["currency"] = currency


class AccessLog:
    """Writes lines to a file, to stderr ("-") or nowhere (None); the line of a 5xx goes to stderr in any case."""

    def __init__(self, target: str | None, on_loss: Callable[[], None] = lambda: None) -> None:
        self._on_loss = on_loss
        self._stderr = _Output(_duplicated_stderr())
        self._output = self._stderr if target == STDERR else _Output(_opened(target)) if target else None
        self._lines: queue.Queue[tuple[bytes, bool] | None] = queue.Queue(CAPACITY)
        self._thread = threading.Thread(target=self._write_all, name="access log", daemon=True)
        self._thread.start()

    def write(self, route: str, status: int, seconds: float, request: str, fields: Mapping[str, Any]) -> None:
        """Queue the line of a request; if the queue is full, the line is lost."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        failed = status >= 500 or "cause" in fields
        if self._output is None and not failed:
            return
        entry = {"time": time, "request": request, "route": route, "status": status, "ms": round(1000 * seconds, 1)}
        try:
            self._lines.put_nowait((json.dumps(entry | dict(fields)).encode() + b"\n", failed))
        except queue.Full:
            self._on_loss()

    def close(self) -> None:
        """Write the queued lines, within FLUSH seconds."""
        try:
            self._lines.put(None, timeout=FLUSH)
        except queue.Full:
            return
        self._thread.join(FLUSH)

    def _write_all(self) -> None:
        while (item := self._lines.get()) is not None:
            line, failed = item
            for output in self._outputs(failed=failed):
                if not output.write(line):
                    self._on_loss()
        for output in self._outputs(failed=True):
            output.close()

    def _outputs(self, *, failed: bool) -> list[_Output]:
        """Where the line of a request goes, by whether the request failed."""
        if self._output is None or self._output is self._stderr:
            return [self._stderr]
        return [self._output, self._stderr] if failed else [self._output]


class _Output:
    """A file descriptor, or none; a line that was cut off by a full disk does not damage the next one."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._torn = False

    def write(self, line: bytes) -> bool:
        """Write a line; return whether all of it was written."""
        rest = b"\n" + line if self._torn else line
        try:
            while rest and self._descriptor is not None:
                rest = rest[os.write(self._descriptor, rest) :]
                self._torn = True
        except OSError:
            return False
        self._torn = False
        return not rest

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _duplicated_stderr() -> int | None:
    try:
        return os.dup(2)
    except OSError:  # it is closed
        return None


def _opened(target: str) -> int:
    """Open a log for appending; refuse a file that is not an access log."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe without a reader is refused
    try:
        if Path(target).is_file() and not _is_log(Path(target)):
            raise SettingError(
                f"--access-log {target}: the file exists and is not an access log. Choose another name, or move it."
            )
        descriptor = os.open(target, flags, 0o640)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"cannot write the access log {target}: {reason}. Choose another file.") from None
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        os.set_blocking(descriptor, True)
    return descriptor


def _is_log(path: Path) -> bool:
    """Whether a file is empty or begins with a line of an access log, which may be cut off."""
    with path.open("rb") as file:
        first = file.readline(FIRST_LINE)
    return first.startswith(b'{"time": "') or not first.strip()
