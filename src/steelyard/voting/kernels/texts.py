"""Short texts by their views (foundation/text_views.py): runs of equal ones, and integers."""

import numpy as np

from steelyard.voting.kernels.compilation import standalone

INLINE = 12  # bytes of a text that its view contains
LENGTH = np.uint64(0xFFFFFFFF)
MINUS, ZERO, NINE = b"-09"


@standalone
def run_starts(views, starts):  # type: ignore[no-untyped-def]
    """Fill starts [R] with where each run of equal texts begins, and return their number.

    Returns -1 if that needs the bytes of long texts, of which two may be equal at different places.
    """
    count = 0
    for i in range(len(views)):
        if i > 0 and views[i, 0] == views[i - 1, 0]:
            if views[i, 1] == views[i - 1, 1]:
                continue
            if views[i, 0] & LENGTH > INLINE:
                return -1
        starts[count] = i
        count += 1
    return count


@standalone
def find_integers(views, found):  # type: ignore[no-untyped-def]
    """Fill found [R] with whether each text is an integer without leading zeros, of up to INLINE characters."""
    for i in range(len(views)):
        length = np.int64(views[i, 0] & LENGTH)
        good = 0 < length <= INLINE
        word, digits = views[i, 0] >> np.uint64(32), np.int64(0)
        for k in range(length if good else 0):
            if k == 4:
                word = views[i, 1]
            byte = np.int64(word & np.uint64(255))
            word >>= np.uint64(8)
            if byte == MINUS and k == 0 and length > 1:
                continue
            good = good and ZERO <= byte <= NINE and (byte > ZERO or digits > 0 or length == 1)
            digits += 1
        found[i] = good
