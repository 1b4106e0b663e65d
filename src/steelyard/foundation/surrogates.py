"""Halves of surrogate pairs: JSON can spell them, Python can hold them, and no file or table can."""

from __future__ import annotations


def is_encodable(text: str) -> bool:
    r"""Return whether a text holds no half of a surrogate pair.

    >>> is_encodable("caf\u00e9"), is_encodable("half \ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def replace_surrogates(text: str) -> str:
    r"""Return a text with each half of a surrogate pair replaced; two halves that stand together are joined.

    >>> replace_surrogates("half \ud800") == "half \ufffd", replace_surrogates("\ud83d\ude00") == "\U0001f600"
    (True, True)
    """
    return text if is_encodable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
