"""Lines of JSON that are flat objects with the same names in the same order -> columns.

A line is accepted only if it is certain what it contains: every other line is left to a general parser. The text ends
with a line break, which ends every search; MARGIN bytes follow it, which are loaded but do not matter. The loop calls
only small functions: a call with arrays takes as long as a value.
"""

import numpy as np

from steelyard.voting.kernels.byte_chunks import (
    U0,
    U1,
    U8,
    are_digits,
    byte_index,
    eight_bytes,
    eight_digits,
    first_stop,
)
from steelyard.voting.kernels.compilation import standalone
from steelyard.voting.kernels.decimals import LARGEST, nearest_float
from steelyard.voting.kernels.json_escapes import ESCAPES, put_character

MARGIN = 16
TEXT, INTEGER, DECIMAL, TRUTH, NOTHING = 1, 2, 3, 4, 5  # types of values
KIND_BITS = 3
SLOTS = 1024  # for texts seen lately, per column
SLOT = 3  # begin in the text, length, and number
FACTOR, SLOT_SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - 10)
LONG_TEXT = 64  # bytes from which a text is not looked up
LONG_NUMBER, LONG_EXPONENT = 16, 5  # digits that are too many
MOST_DIGITS = 10**17  # from here on further digits are dropped
QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE = b'"\\-+.09'
A, E, F, L, N, R, S, T, U = b"aeflnrstu"


@standalone
def flat_rows(  # type: ignore[no-untyped-def]
    text, length, pieces, masks, bounds, widths, room, kinds, shapes, begins, counts,
    codes, integers, numbers, missing, data, slots, sizes, doubts,
):  # fmt: skip
    """Read the lines in the first `length` bytes of a text; return how many there are, or -1 if one has another form.

    The bytes before, between and after the values are `widths` [C + 1] long. They are in `pieces`, eight at a time,
    with `masks` for those that count; `bounds` [C + 2] says where each begins there.
    `kinds` [C] has the type of each column so far, 0 if it is not known: integers may become decimals. `room` is the
    number of rows of each column in codes, integers, numbers and missing [C * room], of which those for its type are
    filled; `missing` starts with zeros. `data` [C * length] is filled with texts of each column, each ended by a zero,
    and `codes` with their numbers; `slots` [C * SLOTS * SLOT] starts with -1. `sizes` [C * 3] starts with zeros, and
    counts the bytes of data, the texts in it, and missing values. `doubts` is filled with column, row, begin and end
    of each decimal that is in doubt. `counts` has the number of `shapes`, which are the types of a line's values, and
    of entries in `doubts`; `begins` is filled with where the first line of each new shape begins.
    """
    columns = len(kinds)
    i, row, last = 0, 0, -1
    while i < length:
        first, shape = i, 0
        for column in range(columns):
            at = np.uint64(i)
            for k in range(bounds[column], bounds[column + 1]):
                if (eight_bytes(text, at) ^ pieces[k]) & masks[k]:
                    return -1
                at += U8
            i += widths[column]
            byte, entry, previous = text[i], column * room + row, kinds[column]
            begin = i
            if byte == QUOTE:
                kind = TEXT
                start = column * length + sizes[3 * column]  # in data
                end, code, mixed = start, -1, U0
                while True:
                    i += 1
                    at = np.uint64(i)
                    chunk = eight_bytes(text, at)
                    stop = first_stop(chunk)
                    while stop == U0:
                        mixed = (mixed ^ chunk) * FACTOR
                        at += U8
                        chunk = eight_bytes(text, at)
                        stop = first_stop(chunk)
                    mask = stop - U1  # of the bytes before the stop
                    at += byte_index(stop)
                    size, byte = np.int64(at) - i, text[at]
                    if byte == QUOTE and i == begin + 1 and size < LONG_TEXT:
                        mixed = (mixed ^ (chunk & mask)) * FACTOR
                        slot = SLOT * (column * SLOTS + np.int64(mixed >> SLOT_SHIFT))
                        if slots[slot + 1] == size:
                            at, other, rest = np.uint64(i), np.uint64(slots[slot]), size
                            while rest >= 8 and eight_bytes(text, at) == eight_bytes(text, other):
                                at += U8
                                other += U8
                                rest -= 8
                            if rest < 8 and (eight_bytes(text, at) ^ eight_bytes(text, other)) & mask == U0:
                                code = slots[slot + 2]
                                i += size + 1
                                break
                        slots[slot] = i
                        slots[slot + 1] = size
                        slots[slot + 2] = sizes[3 * column + 1]
                    for k in range(size):
                        data[np.uint64(end + k)] = text[np.uint64(i + k)]
                    i += size + 1
                    end += size
                    if byte == QUOTE:
                        break
                    if byte != BACKSLASH:
                        return -1
                    byte = text[i]
                    if ESCAPES[byte]:
                        data[end] = ESCAPES[byte]
                        end += 1
                    else:
                        size = put_character(text, i + 1, data, end) if byte == U else 0
                        if size == 0:
                            return -1
                        end += size
                        i += 4
                if code < 0:
                    code = sizes[3 * column + 1]
                    data[end] = 0
                    sizes[3 * column] += end + 1 - start
                    sizes[3 * column + 1] += 1
                codes[entry] = code
            elif byte == MINUS or ZERO <= byte <= NINE:
                kind = INTEGER
                if byte == MINUS:
                    i += 1
                start, digits = i, np.int64(0)
                while ZERO <= text[i] <= NINE and i - start < LONG_NUMBER:
                    digits = digits * 10 + (np.int64(text[i]) - ZERO)
                    i += 1
                if i == start or i - start >= LONG_NUMBER or (i - start > 1 and text[start] == ZERO):
                    return -1
                power, cut = 0, False
                if text[i] == POINT:
                    kind = DECIMAL
                    i += 1
                    start = i
                    while digits < 10**9:
                        chunk = eight_bytes(text, np.uint64(i))
                        if not are_digits(chunk):
                            break
                        digits = digits * 10**8 + eight_digits(chunk)
                        i += 8
                    while ZERO <= text[i] <= NINE and digits < MOST_DIGITS:
                        digits = digits * 10 + (np.int64(text[i]) - ZERO)
                        i += 1
                    power = start - i
                    while ZERO <= text[i] <= NINE:
                        cut = cut or text[i] != ZERO
                        i += 1
                    if i == start:
                        return -1
                if text[i] | 32 == E:
                    kind = DECIMAL
                    i += 1
                    falls = text[i] == MINUS
                    if falls or text[i] == PLUS:
                        i += 1
                    start, exponent = i, np.int64(0)
                    while ZERO <= text[i] <= NINE and i - start < LONG_EXPONENT:
                        exponent = exponent * 10 + (np.int64(text[i]) - ZERO)
                        i += 1
                    if i == start or i - start >= LONG_EXPONENT:
                        return -1
                    power += int(-exponent if falls else exponent)
                if kind == INTEGER:
                    integers[entry] = -digits if byte == MINUS else digits
                    numbers[entry] = integers[entry]
                else:
                    if power < -LARGEST or power > LARGEST:
                        return -1
                    value = nearest_float(digits, power, cut)
                    if value < 0:
                        if counts[1] + 4 > len(doubts):
                            return -1
                        doubts[counts[1]] = column
                        doubts[counts[1] + 1] = row
                        doubts[counts[1] + 2] = begin
                        doubts[counts[1] + 3] = i
                        counts[1] += 4
                    numbers[entry] = -value if byte == MINUS else value
            elif byte == N:
                if text[i + 1] != U or text[i + 2] != L or text[i + 3] != L:
                    return -1
                kind = NOTHING
                i += 4
                missing[entry] = 1
                codes[entry] = 0
                integers[entry] = 0
                numbers[entry] = 0.0
                sizes[3 * column + 2] += 1
            elif byte == T and text[i + 1] == R and text[i + 2] == U and text[i + 3] == E:
                kind = TRUTH
                i += 4
                integers[entry] = 1
            elif byte == F and text[i + 1] == A and text[i + 2] == L and text[i + 3] == S and text[i + 4] == E:
                kind = TRUTH
                i += 5
                integers[entry] = 0
            else:
                return -1
            if kind != previous and kind != NOTHING:
                if previous == 0 or (previous == INTEGER and kind == DECIMAL):
                    kinds[column] = kind
                elif previous != DECIMAL or kind != INTEGER:
                    return -1
            shape = shape << KIND_BITS | kind
        at = np.uint64(i)
        for k in range(bounds[columns], bounds[columns + 1]):
            if (eight_bytes(text, at) ^ pieces[k]) & masks[k]:
                return -1
            at += U8
        i += widths[columns]
        row += 1
        if shape != last:
            last = shape
            k = 0
            while k < counts[0] and shapes[k] != shape:
                k += 1
            if k == counts[0]:
                if k == len(shapes):
                    return -1
                shapes[k] = shape
                begins[k] = first
                counts[0] += 1
    return row
