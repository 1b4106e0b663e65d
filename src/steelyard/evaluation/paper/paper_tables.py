"""Tables as the paper lays them out, the best in bold, written as Markdown, LaTeX and HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import polars as pl

from steelyard.evaluation.paper.measuring import is_oracle
from steelyard.evaluation.percentages import percent

NOTE = (
    "Accuracy in %: mean ± sd over calibration sets (standard error over test questions). Bold: the best method that "
    "reads no test label. Oracles read them: pass-at-n, optimal (as the paper prints it: it leaks), optimal-crossfit "
    "(no response is judged by a density that saw it). -shuffled: the same on scores dealt out at random, which "
    "carry no signal: what an oracle has there comes from the labels alone."
)
LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "<": r"$<$",
    ">": r"$>$", "−": "$-$", "→": r"$\to$",
}  # fmt: skip


def by_llm(rows: pl.DataFrame, note: str = NOTE) -> Shown:
    """Lay out tidy rows; the last column is the mean over the others."""
    columns = rows["llm"].unique(maintain_order=True).to_list()
    lines: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    rules: set[int] = set()
    for (name,), part in rows.group_by("verifier", maintain_order=True):
        if lines:
            rules.add(len(lines))
        methods = part["method"].unique(maintain_order=True).to_list()
        rows_by = {(row["method"], row["llm"]): row for row in part.iter_rows(named=True)}
        text = {key: cell(row["accuracy"], row["sd"], row["se"]) for key, row in rows_by.items()}
        value = {key: row["accuracy"] for key, row in rows_by.items()}
        for method in methods:
            own = [value[method, c] for c in columns if (method, c) in value]
            value[method, "average"] = sum(own) / len(own)
        for method in methods:
            cells = [text.get((method, c), "-") for c in columns]
            lines.append([str(name), method, *cells, cell(value[method, "average"], None, None)])
        first = len(lines) - len(methods)
        for j, c in enumerate((*columns, "average"), 2):
            bold |= {(first + methods.index(method), j) for method in best({m: value.get((m, c)) for m in methods})}
    return Shown(["verifier", "method", *columns, "average"], lines, note, 2, frozenset(bold), frozenset(rules))


def best(value: dict[str, float | None]) -> list[str]:
    """The honest methods with the highest accuracy, as printed."""
    honest = {m: round(v, 3) for m, v in value.items() if v is not None and not is_oracle(m)}
    return [method for method, v in honest.items() if v == max(honest.values())]


def averaged(rows: pl.DataFrame) -> Shown:
    """The same in short: a row per verifier, a column per method, averaged over the language models."""
    methods = rows["method"].unique(maintain_order=True).to_list()
    lines: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    parts = [(str(name), part) for (name,), part in rows.group_by("verifier", maintain_order=True)]
    for name, part in (*parts, ("average", rows)):
        mean = averages(part)
        bold |= {(len(lines), 1 + methods.index(method)) for method in best({**mean})}
        lines.append([name, *(cell(mean[method], None, None) for method in methods)])
    note = "Accuracy in %, averaged over the language models. Bold: the best method that reads no test label."
    return Shown(["verifier", *methods], lines, note, 1, frozenset(bold), frozenset({len(lines) - 1}))


def averages(rows: pl.DataFrame) -> dict[str, float]:
    """The mean accuracy of every method over all pairs."""
    mean = rows.group_by("method", maintain_order=True).agg(pl.col("accuracy").mean())
    return dict(mean.iter_rows())


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
    return re.sub(r"[&%$#_{}\\~^±<>−→]", lambda match: LATEX[match[0]], cell)


def cell(accuracy: float, sd: float | None, se: float | None) -> str:
    """A mean, the sd over runs and, in brackets, the standard error over questions.

    >>> cell(0.531, 0.002, 0.019)
    '53.1 ± 0.2 (1.9)'
    """
    spread = "" if sd is None or math.isnan(sd) else f" ± {percent(sd)}"
    error = "" if se is None or math.isnan(se) else f" ({percent(se)})"
    return f"{percent(accuracy)}{spread}{error}"


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "pair"), count(3, "pair")
    ('1 pair', '3 pairs')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def percents(value: Mapping[str, float], names: Sequence[str]) -> str:
    """Accuracies of some methods, without the sign.

    >>> percents({"logit": 0.531, "kde": 0.5}, ["logit", "kde"])
    'logit 53.1, kde 50.0'
    """
    return ", ".join(f"{name} {percent(value[name])}" for name in names)


def beyond_chance(rows: pl.DataFrame) -> tuple[int, int]:
    """In how many rows logit is more than two standard errors above vanilla, and in how many below."""
    logit = rows.filter(pl.col("method") == "logit")
    gain, error = logit["over_vanilla"], logit["over_vanilla_se"]
    return int((gain > 2 * error).sum()), int((gain < -2 * error).sum())


def by_verifier(rows: pl.DataFrame, cell: Callable[[dict[str, Any]], str]) -> tuple[list[str], list[list[str]]]:
    """The head and the lines of a table with a row per verifier and a column per language model."""
    llms, verifiers = (rows[name].unique(maintain_order=True).to_list() for name in ("llm", "verifier"))
    text = {(row["verifier"], row["llm"]): cell(row) for row in rows.iter_rows(named=True)}
    return ["verifier", *llms], [[v, *(text.get((v, llm), "-") for llm in llms)] for v in verifiers]


def listed(names: Sequence[str]) -> str:
    """Names with commas and an and.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
