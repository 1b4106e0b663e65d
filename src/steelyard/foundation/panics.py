"""Hide the output of polars panics on damaged files when an error message reports the problem.

A panic is written to file descriptor 2 by a thread of the library, before Python sees it. While a file is read, the
command line redirects stderr to a temporary file and copies the content to stderr afterwards, unless a panic became an
error. At any other time nothing is redirected, and never when Steelyard is used as a library.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import IO

PANIC = b"panicked at"


class StderrCapture:
    """Redirects file descriptor 2 while files are being read."""

    def __init__(self) -> None:
        self.enabled = False
        self._lock = Lock()
        self._readers = 0
        self._failed = False  # whether a read ended in an error
        self._file: IO[bytes] | None = None
        self._stderr = -1

    def begin(self) -> None:
        """Start redirecting, unless this is already the case."""
        with self._lock:
            self._readers += 1
            if self._readers == 1:
                self._failed = False
                with suppress(OSError):  # no stderr, or no space for a file: nothing is hidden
                    self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
                    self._stderr = os.dup(2)
                    os.dup2(self._file.fileno(), 2)

    def end(self, *, failed: bool) -> None:
        """After the last read, restore stderr and print the captured text, except a panic that became an error."""
        with self._lock:
            self._readers -= 1
            self._failed |= failed
            if self._readers or self._file is None:
                return
            with self._file as file, suppress(OSError):
                self._file = None
                os.dup2(self._stderr, 2)
                os.close(self._stderr)
                file.seek(0)
                text = file.read()
                if text and not (self._failed and PANIC in text):
                    os.write(2, text)


_capture = StderrCapture()


def hide_panics() -> None:
    """Hide panics from now on; sys.stderr must already have its own file descriptor."""
    _capture.enabled = True


@contextmanager
def hidden_panics() -> Iterator[None]:
    """Hide the output of a panic that ends in an error in this block, if `hide_panics` was called."""
    if not _capture.enabled:
        yield
        return
    _capture.begin()
    failed = False
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException:
        failed = True
        raise
    finally:
        _capture.end(failed=failed)
