"""Lines of JSON by their shape: names, brackets and types of values, without the values."""

import numpy as np

from steelyard.voting.kernels.compilation import standalone

DEEPEST = 60  # levels of brackets
LONG_NUMBER = 16  # digits from which an integer may be rounded
QUOTE, BACKSLASH, NEWLINE, COLON, COMMA, MINUS, SPACE = b'"\\\n:,- '
OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = b"[]{}"
TRUE, FALSE, NULL, SMALL_U, SMALL_D, EIGHT, NINE = b"tfnud89"
STOPS, DIGITS, NUMBERS = 1, 2, 4  # classes of bytes: where a text stops, in integers, in all numbers
CLASSES = np.zeros(256, np.uint8)
CLASSES[[QUOTE, BACKSLASH, NEWLINE]] |= STOPS
CLASSES[list(b"0123456789")] |= DIGITS | NUMBERS
CLASSES[list(b".+-eE")] |= NUMBERS
OTHER = np.uint64(0x5851F42D4C957F2C)  # even: an odd number stays odd
TEXT, INTEGER, DECIMAL, TRUTH, NOTHING = 1, 2, 4, 8, 16  # types of values


@standalone
def line_shapes(text, longest, secret, types, in_list, known, begins, counts):  # type: ignore[no-untyped-def]
    """Find the shapes of the lines in a text, which ends with a line break; return whether every line is plain.

    A shape is a hash of names, brackets and types of values; a list has the types of all its values together, so that
    its length does not matter. `counts` has the number of known shapes, whose hashes are in `known`, and the number of
    lines that are not blank. Both grow, and `begins` is filled with where the first line of each new shape begins.
    `types` [DEEPEST + 1] is for the types of the values in the list at each level, `in_list` for whether it is one.
    Not plain are lines longer than `longest`, nested deeper than DEEPEST or broken, integers of LONG_NUMBER digits,
    surrogates, and more shapes than `known` has room for.
    """
    i, last = 0, np.uint64(0)
    while i < len(text):
        begin, shape, depth, blank = i, secret, 0, True
        while text[i] != NEWLINE:
            byte = text[i]
            i += 1
            if byte <= SPACE:
                continue
            blank = False
            token = np.int64(byte)
            kind = 0
            if byte == QUOTE:
                start = i
                while text[i] != QUOTE:
                    if CLASSES[text[i]] & STOPS:
                        if text[i] == NEWLINE or text[i + 1] == NEWLINE or is_surrogate(text, i):
                            return False
                        i += 1
                    i += 1
                end = i
                i += 1
                while text[i] <= SPACE and text[i] != NEWLINE:
                    i += 1
                if text[i] == COLON:
                    shape = with_name(shape, text, start, end, secret)
                else:
                    kind = TEXT
            elif byte == MINUS or CLASSES[byte] & DIGITS:
                start = i - 1 if byte != MINUS else i
                while CLASSES[text[i]] & DIGITS:
                    i += 1
                if i - start >= LONG_NUMBER:
                    return False
                kind = INTEGER
                while CLASSES[text[i]] & NUMBERS:
                    i += 1
                    kind = DECIMAL
            elif byte in (OPEN_LIST, OPEN_OBJECT):
                depth += 1
                if depth > DEEPEST:
                    return False
                in_list[depth] = byte == OPEN_LIST
                types[depth] = 0
            elif byte in (CLOSE_LIST, CLOSE_OBJECT):
                if depth == 0:
                    return False
                if in_list[depth]:
                    shape = mixed(shape, np.uint64(256 + types[depth]), secret)
                depth -= 1
            elif byte in (TRUE, FALSE, NULL):
                kind = NOTHING if byte == NULL else TRUTH
                while is_letter(text[i]):
                    i += 1
            elif byte != COLON and byte != COMMA:
                return False
            if in_list[depth] and (byte == COMMA or kind > 0):
                types[depth] |= kind
            else:
                shape = mixed(shape, np.uint64(token if kind == 0 else 512 + kind), secret)
        if i - begin >= longest:  # with its line break it is longer
            return False
        i += 1
        if blank:
            continue
        counts[1] += 1
        if shape == last:
            continue
        last = shape
        at = 0
        while at < counts[0] and known[at] != shape:
            at += 1
        if at == counts[0]:
            if at == len(known):
                return False
            known[at] = shape
            begins[at] = begin
            counts[0] += 1
    return True


@standalone
def mixed(shape, token, secret):  # type: ignore[no-untyped-def]
    """Add a token to a hash; a difference in any bit is spread twice, by factors that nobody knows."""
    shape = (shape ^ token) * secret
    shape = (shape ^ (shape >> np.uint64(32))) * (secret ^ OTHER)
    return shape ^ (shape >> np.uint64(29))


@standalone
def with_name(shape, text, start, end, secret):  # type: ignore[no-untyped-def]
    """Add a name to a hash, eight bytes at a time, and its length."""
    word = np.uint64(0)
    for k in range(start, end):
        word = (word << np.uint64(8)) | np.uint64(text[k])
        if (k - start) & 7 == 7:
            shape = mixed(shape, word, secret)
    return mixed(mixed(shape, word, secret), np.uint64(end - start), secret)


@standalone
def is_letter(byte):  # type: ignore[no-untyped-def]
    """Whether a byte is an ASCII letter."""
    return 97 <= (byte | 32) <= 122


@standalone
def is_surrogate(text, i):  # type: ignore[no-untyped-def]
    r"""Whether a surrogate begins at the backslash i: \ud8 to \udf."""
    if text[i + 1] != SMALL_U or (text[i + 2] | 32) != SMALL_D:
        return False
    byte = text[i + 3]
    return byte in (EIGHT, NINE) or 97 <= (byte | 32) <= 102
