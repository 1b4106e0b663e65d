"""Small parts of a page as HTML; every text that comes from a file is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from steelyard.voting.method_colours import colour


def as_html(text: str) -> str:
    """A sentence as HTML; a number and its unit stay on one line."""
    return escape(text).replace(" %", "&nbsp;%").replace(" points", "&nbsp;points")


def lead(sentences: Iterable[str]) -> str:
    """What is said first, a paragraph per sentence."""
    return "".join(f"<p class=lead>{as_html(text)}</p>" for text in sentences)


def card(value: str, unit: str, caption: str, state: str = "") -> str:
    """A large figure."""
    return (
        f'<div class="card {state}"><div class=value>{escape(value)} <span class=unit>{escape(unit)}</span></div>'
        f"<div class=what>{as_html(caption)}</div></div>"
    )


def facts(named: Mapping[str, str]) -> str:
    """A list of facts."""
    listed = []
    for name, text in named.items():
        wide = max(map(len, text.split()), default=0) > 15  # a word that would break in its column: the fact gets two
        listed.append(f"<div{' class=wide' * wide}><dt>{escape(name)}</dt><dd><bdi>{escape(text)}</bdi></dd></div>")
    return f"<dl class=facts>{''.join(listed)}</dl>"


def folded_table(caption: str, heads: Iterable[str], rows: str) -> str:
    """The figures of a chart as a table that is folded; `rows` are HTML."""
    columns = "".join(f"<th scope=col>{head}</th>" for head in heads)
    return (
        "<details><summary>The figures as a table</summary><div class=scroll tabindex=0><table>"
        f"<caption>{caption}</caption><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names its rows."""
    lines = "".join(
        f"<tr><th scope=row><bdi>{escape(row[0])}</bdi></th>"
        + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in heads)
    return (
        f"<div class=scroll tabindex=0><table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def swatch(method: str) -> str:
    """A patch of a method's colour, as HTML."""
    return f'<span class=swatch style="background:{colour(method)}"></span>'
