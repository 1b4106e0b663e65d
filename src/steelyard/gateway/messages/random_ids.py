"""Random ids of requests and replies.

They are read from the system in blocks: one read takes 40 microseconds on a virtual machine, as long as parsing a
request.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

BYTES = 16  # of an id: nobody guesses one
BLOCK = 64  # ids


def random_id() -> str:
    """32 hexadecimal digits.

    >>> len(random_id()), random_id() == random_id()
    (32, False)
    """
    return next(_ids)


def _read_ids() -> Iterator[str]:
    while True:
        digits = os.urandom(BYTES * BLOCK).hex()
        yield from (digits[i : i + 2 * BYTES] for i in range(0, len(digits), 2 * BYTES))


_ids = _read_ids()
