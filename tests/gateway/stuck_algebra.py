"""An equivalence checker that does not answer while a block runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from steelyard.answers import equivalence
from steelyard.answers.equivalence import Worker


@contextmanager
def stuck_algebra() -> Iterator[None]:
    """Workers that are asked wait until the block ends."""
    over = threading.Event()

    def ask(_: Worker, *__: str) -> str:
        over.wait()
        return equivalence.UNKNOWN

    with patch.object(Worker, "ask", ask), patch.object(Worker, "start", lambda _: None):
        try:
            yield
        finally:
            over.set()
