"""Whether the loops of `kernels` run as plain Python in this process instead of compiled.

A process that only votes on the few responses of one question at a time, like the gateway, gains nothing from compiled
loops, and numba costs 130 MB and a second. The results are identical to the last bit.
"""

from __future__ import annotations


class _Chosen:
    plain = False


def choose_plain_loops() -> None:
    """Run the loops as plain Python from now on; has no effect once they are imported."""
    _Chosen.plain = True


def plain_loops() -> bool:
    """Whether this process has chosen plain loops."""
    return _Chosen.plain
