"""Lone surrogates: JSON and Python strings may contain them, but files and tables cannot store them."""

from __future__ import annotations


def is_encodable(text: str) -> bool:
    r"""Return whether a text contains no lone surrogate.

    >>> is_encodable("caf\u00e9"), is_encodable("half \ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def replace_surrogates(text: str) -> str:
    r"""Return a text with lone surrogates replaced; the two halves of a pair are joined.

    >>> replace_surrogates("half \ud800") == "half \ufffd", replace_surrogates("\ud83d\ude00") == "\U0001f600"
    (True, True)
    """
    return text if is_encodable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
