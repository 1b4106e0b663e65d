"""The style an answer is written in: a letter, yes or no, a date, JSON, a Python value, words; anything else is maths.

One text may have several styles: `True` is a yes-or-no answer and a Python value.
"""

from __future__ import annotations

import json
import re

from steelyard.answers.extract import kind_of
from steelyard.answers.golds import ITEM, LIST
from steelyard.answers.kind import first_match
from steelyard.answers.kinds.code import NO_VALUE, value_of

LETTER, YES_NO, DATE, JSON, VALUE, WORDS, MATHS = "letter", "yes-no", "date", "json", "value", "words", "maths"
LONG = 60  # characters; a gold answer this long may be a worked solution
_WRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s?\{([^{}]{0,400})\}")
_ONE = r"[\[(]?(?:[A-J]|[a-j])[\])]?"
_LETTERS = re.compile(
    rf"{_ONE}(?:(?:\s?,\s?|\s(?:and|&)\s){_ONE}){{0,9}}[.:]?|[\[(]?[A-J][\]).:]\s\S.{{0,300}}", re.DOTALL
)
_YES_NO = re.compile(r"(?:yes|no|true|false)[.!]?", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{2}:\d{2}\S{0,20})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
    rf"|(?:\w{{3,9}},\s)?{_MONTH}\s{_DAY}(?:,?\s\d{{4}})?|(?:\w{{3,9}},\s)?{_DAY}\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?"
    rf"|{_MONTH},?\s\d{{4}}",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[\"'“‘(]?[^\W\d_][^\\^=+{}<>*|]{0,300}", re.DOTALL)
_MATHS = re.compile(
    r"\d\s?[-/:]\s?\d|\b[A-Za-z]\s?[-/]\s?[A-Za-z0-9]\b|\w\([^()]{0,20}\)|\b(?:sqrt|sin|cos|tan|log|ln|pi|infinity)\b|####"
)


def styles_of(text: str) -> frozenset[str]:
    r"""Return all styles of an answer; maths if no other style fits.

    >>> [sorted(styles_of(text)) for text in ("(B)", "c", "No", "March 5, 2020", "Rome", r"\frac{1}{2}", "12 apples")]
    [['letter', 'words'], ['letter', 'words'], ['words', 'yes-no'], ['date', 'words'], ['words'], ['maths'], ['maths']]
    >>> [sorted(styles_of(text)) for text in ('{"a": 1}', "['a', 1]", "[1, 2]", "2020-03-05", "2x", "a - b")]
    [['json'], ['value'], ['maths'], ['date'], ['maths'], ['maths']]
    """
    raw = text.strip()
    one = _first(raw)
    bare = _WRAPPED.sub(r"\1", one).strip(" $")
    tests = (
        (LETTER, _LETTERS.fullmatch(bare)),
        (YES_NO, _YES_NO.fullmatch(bare)),
        (DATE, _DATE.fullmatch(bare)),
        (JSON, _is_json(raw)),
        (VALUE, not _is_json(raw) and _is_value(raw)),
        (WORDS, _WORDS.fullmatch(one) and (_DATE.fullmatch(bare) or not _MATHS.search(one))),
    )
    return frozenset(style for style, test in tests if test) or frozenset((MATHS,))


def final_of(gold: str) -> str:
    r"""Return the final answer of a worked solution; any other gold answer is returned unchanged.

    >>> final_of("6 * 7 = 42\n#### 42"), final_of(r"so it is \boxed{B}"), final_of("Rome")
    ('42', 'B', 'Rome')
    """
    if gold.startswith(LIST):
        gold = gold[1:].split(ITEM, maxsplit=1)[0]
    if "####" not in gold and "\\boxed" not in gold and len(gold) < LONG:
        return gold
    return gold if gold.lstrip()[:1] in ("{", "[") else first_match(kind_of("math").marked, gold).answer or gold


def _first(text: str) -> str:
    """The first item of a JSON list of strings; any other text is returned unchanged."""
    items = _texts(text)
    return items[0].strip() if items else text


def _texts(text: str) -> list[str]:
    if not text.startswith('["'):
        return []
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return items if all(isinstance(item, str) for item in items) else []


def _is_json(text: str) -> bool:
    """Whether a text is a JSON object or a list of them; with single quotes it is Python."""
    only_python = "'" in text and '"' not in text
    return text.startswith(("{", "[{")) and kind_of("json").form(text)[:1] in ("{", "[") and not only_python


def _is_value(text: str) -> bool:
    """Whether a text is a Python string, dictionary, True, False, None or a list with a string.

    Numbers and lists of numbers may be maths.
    """
    if text[:1] not in "'\"([{TFNtfn" or _texts(text):
        return False
    value = value_of(text)
    maths = not isinstance(value, bool) and isinstance(value, int | float | tuple | list)
    return value is not NO_VALUE and (not maths or "'" in text or '"' in text)
