"""How often Python looks for garbage in a server: rarely, and never among what was there at its start.

What a request leaves behind is freed without looking, but for a few circles; every look costs CPU for all requests.
"""

from __future__ import annotations

import gc

NEW = 10_000  # objects since the last look
OLDER = 20  # looks at new objects before one at older ones


def settle() -> None:
    """Keep what is there for good, and look less often from here on."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW, OLDER, OLDER)
