"""Clean hostile text: fold look-alike characters, drop invisible ones and typesetting. Linear time."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 4000  # characters; a longer answer is only stripped and is its own class

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_SAME = str.maketrans(
    {
        "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "•": "*", "∗": "*",
        "÷": "/", "⁄": "/", "∕": "/", "√": "\\sqrt ", "π": "\\pi ", "∞": "\\infty ", "°": "^\\circ ", "±": "\\pm ",
        "∪": "\\cup ", "∩": "\\cap ", "∈": "\\in ", "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ", "∅": "\\emptyset ",
        "“": '"', "”": '"', "‘": "'", "’": "'", "′": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " ",
    }
)  # fmt: skip
_DROPPED = re.compile(
    r"\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|displaystyle|textstyle|limits|nolimits|quad|qquad|hfill|phantom)(?![A-Za-z])"
    r"|\\[!,;:>]|\$|\\[()\[\]]"
)
_SPACE = re.compile(r"\\(?=\s)|~|\s+")
_ESCAPED = re.compile(r"\\{2}(?=[A-Za-z])")  # a backslash escaped once too often
_JOINED = re.compile(r",\\!\s*|\{,\}")
ROW = "\x01"  # replaces the \\\\ between rows of a matrix
_RENAMED = {
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "times": "*", "cdot": "*", "ast": "*", "div": "/", "leq": "le",
    "geq": "ge", "neq": "ne", "lbrace": "{", "rbrace": "}", "degree": "circ", "varnothing": "emptyset",
    "operatorname": "text", "mathrm": "text", "mathbf": "text", "textbf": "text", "textit": "text", "mbox": "text",
    "textrm": "text", "mathit": "text", "hbox": "text", "textsf": "text", "mathsf": "text", "boldsymbol": "text",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)")


def one_alphabet(text: str) -> str:
    """Fold look-alike digits, signs and spaces; drop invisible characters.

    >>> one_alphabet("１２\\u200b٣ − x²")
    '123 - x^{2}'
    """
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    raised: list[str] = []
    for char in text:
        if char in _SUPER:
            raised.append(_SUPER[char])
            continue
        if raised:
            out.append("^{" + "".join(raised) + "}")
            raised.clear()
        out.append(_fold(char))
    if raised:
        out.append("^{" + "".join(raised) + "}")
    return "".join(out)


def _fold(char: str) -> str:
    if char.isascii():
        return char if char.isprintable() or char.isspace() else ""
    kind = unicodedata.category(char)
    if kind == "Nd":
        return str(unicodedata.decimal(char))
    if kind in ("Cf", "Cc", "Cs", "Co", "Mn", "Cn"):
        return ""
    if kind == "No":
        value = unicodedata.normalize("NFKC", char).replace("⁄", "/")
        return f" {value} " if "/" in value else value  # spaces around a vulgar fraction: 1½ is 1 1/2
    same = char.translate(_SAME)
    return same if same != char else unicodedata.normalize("NFKC", char)


def plain(text: str) -> str:
    """Strip typesetting that carries no meaning.

    >>> plain(r"$\\left( \\dfrac{1}{2},\\, 3 \\right)$.")
    '( \\\\frac{1}{2}, 3 )'
    """
    folded = _JOINED.sub(",", one_alphabet(text.strip()))
    if "\\begin" not in folded:
        folded = _ESCAPED.sub("\\\\", folded)
    folded = folded.replace("\\\\", ROW)
    folded = _COMMAND.sub(_rename, folded)
    folded = _DROPPED.sub("", folded.replace("\\$", "$").replace("\\%", "%").replace("\\{", "{ ").replace("\\}", " }"))
    folded = _SPACE.sub(" ", folded).strip()
    return folded.rstrip(".,;: ").strip() or folded


def _rename(match: re.Match[str]) -> str:
    name = _RENAMED.get(match[1])
    if name is None:
        return match[0]
    return f"\\{name}" if name.isalpha() else name
