"""A table as people read it, and as Markdown, LaTeX and HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
LATEX |= {"^": r"\textasciicircum{}", "±": r"$\pm$", "<": r"$<$", ">": r"$>$", "−": "$-$", "→": r"$\to$"}


@dataclass(frozen=True)
class Shown:
    """Cells of text; `text` columns are aligned left, `bold` cells are the best, a rule stands before `rules` rows."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    text: int = 1
    bold: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    rules: frozenset[int] = field(default_factory=frozenset)

    def markdown(self) -> str:
        """A pipe table."""
        align = ["---" if j < self.text else "---:" for j in range(len(self.head))]
        lines = [
            [f"**{_piped(cell)}**" if (i, j) in self.bold else _piped(cell) for j, cell in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in ([_piped(h) for h in self.head], align, *lines))
        return f"{table}\n" + (f"\n{self.note}\n" if self.note else "")

    def latex(self) -> str:
        """A tabular for booktabs."""
        head = " & ".join(rf"\textbf{{{_tex(cell)}}}" for cell in self.head)
        lines = []
        for i, row in enumerate(self.rows):
            cells = [rf"\textbf{{{_tex(cell)}}}" if (i, j) in self.bold else _tex(cell) for j, cell in enumerate(row)]
            lines += [r"\midrule"] * (i in self.rules) + [" & ".join(cells) + r" \\"]
        kinds = "l" * self.text + "r" * (len(self.head) - self.text)
        body = "\n".join((rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", head + r" \\", r"\midrule", *lines))
        note = f"% {self.note}\n" if self.note else ""
        return f"{note}{body}\n\\bottomrule\n\\end{{tabular}}\n"

    def html(self) -> str:
        """A table element."""
        head = "".join(f"<th{_side(j, self.text)}>{escape(cell)}</th>" for j, cell in enumerate(self.head))
        lines = []
        for i, row in enumerate(self.rows):
            cells = (f"<b>{escape(cell)}</b>" if (i, j) in self.bold else escape(cell) for j, cell in enumerate(row))
            kind = ' class="rule"' if i in self.rules else ""
            lines.append(f"<tr{kind}>{''.join(f'<td{_side(j, self.text)}>{c}</td>' for j, c in enumerate(cells))}</tr>")
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        return table + (f'<p class="note">{escape(self.note)}</p>' if self.note else "")


def _side(j: int, text: int) -> str:
    return ' class="text"' if j < text else ""


def _piped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def _tex(cell: str) -> str:
    return re.sub(r"[&%$#_{}\\~^±<>−→]", lambda found: LATEX[found[0]], cell)
