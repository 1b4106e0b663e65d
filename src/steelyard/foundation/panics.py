"""What polars prints when it panics over a damaged file: hidden where one line of ours says what is wrong.

A panic is written to file descriptor 2 by a thread of the library, before Python hears of it. While a file is read, the
command line keeps what is written there aside, and passes it on when the reading is over, unless a panic became an
error. At any other time nothing is kept aside, and a library that is not used by the command line never does it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import IO

PANIC = b"panicked at"


class Aside:
    """File descriptor 2, kept aside as long as anybody reads."""

    def __init__(self) -> None:
        self.wanted = False
        self._lock = Lock()
        self._readers = 0
        self._told = False  # whether a reading ended in an error
        self._kept: IO[bytes] | None = None
        self._stderr = -1

    def begin(self) -> None:
        """Keep aside what is written from now on."""
        with self._lock:
            self._readers += 1
            if self._readers == 1:
                self._told = False
                with suppress(OSError):  # no stderr, or no room for a file: then nothing is hidden
                    self._kept = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
                    self._stderr = os.dup(2)
                    os.dup2(self._kept.fileno(), 2)

    def end(self, *, told: bool) -> None:
        """Pass on what was written, once nobody reads any more; a panic that was told as an error stays hidden."""
        with self._lock:
            self._readers -= 1
            self._told |= told
            if self._readers or self._kept is None:
                return
            with self._kept as kept, suppress(OSError):
                self._kept = None
                os.dup2(self._stderr, 2)
                os.close(self._stderr)
                kept.seek(0)
                text = kept.read()
                if text and not (self._told and PANIC in text):
                    os.write(2, text)


_aside = Aside()


def hide_panics() -> None:
    """Hide the panics of files that are read from now on; sys.stderr must have a descriptor of its own by then."""
    _aside.wanted = True


@contextmanager
def unprinted() -> Iterator[None]:
    """Read files in this block: a panic that ends in an error is not printed, if that was asked for."""
    if not _aside.wanted:
        yield
        return
    _aside.begin()
    told = False
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException:
        told = True
        raise
    finally:
        _aside.end(told=told)
