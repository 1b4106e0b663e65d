"""Eight bytes of a text at a time, as one number whose lowest byte comes first.

A compiler makes one load of the eight in `eight_bytes`. Indices are unsigned: they cannot count from the end.
"""

import numpy as np

from steelyard.voting.kernels.compilation import standalone

U0, U1, U2, U3, U4, U5, U6, U7, U8, U10 = (np.uint64(k) for k in (*range(9), 10))
U16, U24, U32, U40, U48, U56 = (np.uint64(k) for k in range(16, 57, 8))
EACH = 0x0101010101010101  # in each byte
ONES, TOPS, QUOTES, BACKSLASHES, SPACES = (np.uint64(EACH * k) for k in (1, 0x80, *b'"\\ '))
INDICES = np.uint64(0x0001020304050607)
ZEROS, THREES, SIXES, UPPER = (np.uint64(EACH * k) for k in (ord("0"), 0x33, 6, 0xF0))
PAIRS, HUNDREDS, UNITS = np.uint64(0xFF000000FF), np.uint64(100 + (10**6 << 32)), np.uint64(1 + (10**4 << 32))


@standalone
def eight_bytes(text, i):  # type: ignore[no-untyped-def]
    """Return the eight bytes of a text from i on."""
    return (
        np.uint64(text[i])
        | np.uint64(text[i + U1]) << U8
        | np.uint64(text[i + U2]) << U16
        | np.uint64(text[i + U3]) << U24
        | np.uint64(text[i + U4]) << U32
        | np.uint64(text[i + U5]) << U40
        | np.uint64(text[i + U6]) << U48
        | np.uint64(text[i + U7]) << U56
    )


@standalone
def first_stop(chunk):  # type: ignore[no-untyped-def]
    """Return the lowest bit of the first byte that is a quote, a backslash or a control character; 0 if none is."""
    quotes, backslashes = chunk ^ QUOTES, chunk ^ BACKSLASHES
    stops = ((quotes - ONES) & ~quotes | (backslashes - ONES) & ~backslashes | (chunk - SPACES) & ~chunk) & TOPS
    return (stops & (U0 - stops)) >> U7


@standalone
def byte_index(bit):  # type: ignore[no-untyped-def]
    """Return which byte has this lowest bit: 0 to 7."""
    return (bit * INDICES) >> U56


@standalone
def are_digits(chunk):  # type: ignore[no-untyped-def]
    """Whether all eight bytes are decimal digits."""
    return chunk & UPPER | ((chunk + SIXES) & UPPER) >> U4 == THREES


@standalone
def eight_digits(chunk):  # type: ignore[no-untyped-def]
    """Return the number that eight digits are."""
    digits = chunk - ZEROS
    pairs = digits * U10 + (digits >> U8)
    return np.int64(((pairs & PAIRS) * HUNDREDS + (pairs >> U16 & PAIRS) * UNITS) >> U32)
