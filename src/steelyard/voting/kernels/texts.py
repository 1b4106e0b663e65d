"""Short texts by their views (foundation/text_views.py): runs of equal ones, codes, and integers."""

import numpy as np

from steelyard.voting.kernels.compilation import standalone

INLINE = 12  # bytes of a text that its view contains
LENGTH, ONE = np.uint64(0xFFFFFFFF), np.uint64(1)
MINUS, ZERO, NINE = b"-09"


@standalone
def run_starts(views, samples, starts):  # type: ignore[no-untyped-def]
    """Fill starts [R] with where each run of equal texts begins, and return their number.

    Returns -1 if that needs the bytes of long texts, of which two may be equal at different places; also if the samples
    [R] of a run do not rise, where there are any.
    """
    count = 0
    for i in range(len(views)):
        if i > 0 and views[i, 0] == views[i - 1, 0]:
            if views[i, 1] == views[i - 1, 1]:
                if len(samples) > 0 and samples[i] <= samples[i - 1]:
                    return -1
                continue
            if views[i, 0] & LENGTH > INLINE:
                return -1
        starts[count] = i
        count += 1
    return count


@standalone
def code_texts(starts, views, readable, secrets, slots, code, rows, width):  # type: ignore[no-untyped-def]
    """Number each question's distinct texts as `code_keys` numbers keys; returns -1 if one is longer than its view.

    `secrets` are two odd numbers that nobody knows, so that no texts can be chosen to share a slot.
    """
    total = 0
    for q in range(len(starts) - 1):
        size, shift = 2, np.uint64(63)
        while size < 2 * (starts[q + 1] - starts[q]):
            size *= 2
            shift -= ONE
        slots[:size] = -1
        before, mask = total, np.uint64(size - 1)
        for i in range(np.uint64(starts[q]), np.uint64(starts[q + 1])):
            if not readable[i]:
                code[i] = -1
                continue
            head, tail = views[i, 0], views[i, 1]
            if head & LENGTH > INLINE:
                return -1
            at = (head * secrets[0] + tail * secrets[1]) >> shift
            same = slots[at] if slots[at] >= 0 else np.int64(i)  # a row with this text
            while (views[np.uint64(same), 0] ^ head) | (views[np.uint64(same), 1] ^ tail):
                at = (at + ONE) & mask
                same = slots[at] if slots[at] >= 0 else np.int64(i)
            slots[at] = same
            code[i] = total - before
            code[i] = code[np.uint64(same)]
            rows[total] = i
            total += same == np.int64(i)
        width[q] = total - before
    return total


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
