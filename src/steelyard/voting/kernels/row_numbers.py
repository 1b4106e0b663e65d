"""Rows of a table in any order: numbers for their keys, and the order by these numbers and by sample."""

import numpy as np

from steelyard.voting.kernels.compilation import standalone

SHORT = 64  # rows of a question that are sorted by insertion


@standalone
def number_rows(keys, checks, table, total, codes, rows):  # type: ignore[no-untyped-def]
    """Number keys in order of appearance, from `total` on for those that are new to the table; return the new total.

    A key is 128 bits: `keys` and `checks` [R]. The table [a power of two, 3] has open addressing: key, check, and one
    more than the number, 0 where it is empty. Fills codes [R], and the front of rows [R] with the row where each new
    key first appears.
    """
    last, new = len(table) - 1, 0
    for i in range(len(keys)):
        key = keys[i]
        mixed = key ^ (key >> np.uint64(32)) ^ (key >> np.uint64(17)) ^ (key >> np.uint64(7))
        at = np.int64(mixed & np.uint64(last))
        while table[at, 2] > 0 and (table[at, 0] != key or table[at, 1] != checks[i]):
            at = (at + 1) & last
        if table[at, 2] == 0:
            table[at, 0] = key
            table[at, 1] = checks[i]
            rows[new] = i
            new += 1
            total += 1
            table[at, 2] = total
        codes[i] = np.int64(table[at, 2]) - 1
    return total


@standalone
def order_rows(keys, ends, sample, packed):  # type: ignore[no-untyped-def]
    """Fill packed [R] with sample << 32 | row for every row, sorted by keys [R] and then by themselves.

    Samples [R] lie in 0 .. 2^31 - 1, or `sample` is empty. `ends` [K] has the number of rows with each
    key or a lower one. Returns whether no two rows have the same key and sample; without samples, none have.
    """
    for row in range(len(keys) - 1, -1, -1):
        ends[keys[row]] -= 1
        packed[ends[keys[row]]] = (np.int64(sample[row]) << 32 if len(sample) else 0) | row
    if not len(sample):
        return True
    distinct = True
    for k in range(len(ends)):
        begin, end = ends[k], ends[k + 1] if k + 1 < len(ends) else len(packed)
        if end - begin > SHORT:
            sort(packed, begin, end)
        else:
            for i in range(begin + 1, end):
                value, at = packed[i], i
                while at > begin and packed[at - 1] > value:
                    packed[at] = packed[at - 1]
                    at -= 1
                packed[at] = value
        for i in range(begin + 1, end):
            distinct = distinct and packed[i] >> 32 != packed[i - 1] >> 32
    return distinct


@standalone
def sort(values, begin, end):  # type: ignore[no-untyped-def]
    """Sort a part of an array in place, by a heap: in a time of n log n, whatever the order."""
    size = end - begin
    for step in range(size // 2 + size):
        if step < size // 2:
            at, length = size // 2 - 1 - step, size  # build the heap, from its last parent to its root
        else:
            at, length = 0, size + size // 2 - 1 - step  # move the largest behind the heap, which is one shorter then
            values[begin], values[begin + length] = values[begin + length], values[begin]
        value = values[begin + at]
        child = 2 * at + 1
        while child < length:
            if child + 1 < length and values[begin + child + 1] > values[begin + child]:
                child += 1
            if values[begin + child] <= value:
                break
            values[begin + at] = values[begin + child]
            at, child = child, 2 * child + 1
        values[begin + at] = value
