"""Escapes in JSON texts: a backslash and a letter, or four hexadecimal digits."""

import numpy as np

from steelyard.voting.kernels.compilation import standalone

ESCAPES = np.zeros(256, np.uint8)  # the byte for a letter after a backslash
ESCAPES[list(b'"\\/bfnrt')] = list(b'"\\/\b\f\n\r\t')
HEX_DIGITS = np.full(256, -1, np.int64)
HEX_DIGITS[list(b"0123456789abcdef")] = range(16)
HEX_DIGITS[list(b"ABCDEF")] = range(10, 16)
SURROGATES, AFTER_SURROGATES = 0xD800, 0xE000


@standalone
def put_character(text, i, data, end):  # type: ignore[no-untyped-def]
    """Write the character with four digits at i as UTF-8; return its size, 0 for no digits, a zero or a surrogate."""
    code = 0
    for k in range(4):
        digit = HEX_DIGITS[text[i + k]]
        if digit < 0:
            return 0
        code = code << 4 | digit
    if code == 0 or SURROGATES <= code < AFTER_SURROGATES:
        return 0
    if code < 0x80:
        data[end] = code
        return 1
    if code < 0x800:
        data[end] = 0xC0 | code >> 6
        data[end + 1] = 0x80 | code & 0x3F
        return 2
    data[end] = 0xE0 | code >> 12
    data[end + 1] = 0x80 | code >> 6 & 0x3F
    data[end + 2] = 0x80 | code & 0x3F
    return 3
