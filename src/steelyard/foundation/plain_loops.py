"""Whether the loops of `kernels` run as plain Python in this process, and not compiled.

A process that only ever votes on the few responses of one question at a time, as the gateway does, gains nothing from
compiled loops, and numba takes 130 MB and a second. The results are the same to the last bit.
"""

from __future__ import annotations


class _Chosen:
    plain = False


def choose_plain_loops() -> None:
    """Run the loops as plain Python from here on; where they have been imported already, nothing changes."""
    _Chosen.plain = True


def plain_loops() -> bool:
    """Whether this process has chosen them."""
    return _Chosen.plain
