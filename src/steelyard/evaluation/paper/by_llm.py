"""The paper's layout of a table: a row per verifier and method, a column per language model, the best in bold."""

from __future__ import annotations

import polars as pl

from steelyard.evaluation.paper.figures_in_words import cell
from steelyard.evaluation.paper.measuring import is_oracle
from steelyard.evaluation.paper.shown_table import Shown

NOTE = (
    "Accuracy in %: mean ± sd over calibration sets (standard error over test questions). Bold: the best method that "
    "reads no test label. Oracles read them: pass-at-n, optimal (as the paper prints it: it leaks), optimal-crossfit "
    "(no response is judged by a density that saw it). -shuffled: the same on scores dealt out at random, which "
    "carry no signal: what an oracle has there comes from the labels alone."
)


def by_llm(rows: pl.DataFrame, note: str = NOTE, group: str = "verifier", column: str = "llm") -> Shown:
    """Lay out tidy rows; the last column is the mean over the others."""
    columns = rows[column].unique(maintain_order=True).to_list()
    lines: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    rules: set[int] = set()
    for (name,), part in rows.group_by(group, maintain_order=True):
        if lines:
            rules.add(len(lines))
        methods = part["method"].unique(maintain_order=True).to_list()
        found = {(row["method"], row[column]): row for row in part.iter_rows(named=True)}
        value = {key: row["accuracy"] for key, row in found.items()}
        for method in methods:
            own = [value[method, c] for c in columns if (method, c) in value]
            value[method, "average"] = sum(own) / len(own)
        for method in methods:
            cells = [_cell(found.get((method, c))) for c in columns]
            lines.append([str(name), method, *cells, cell(value[method, "average"], None, None)])
        first = len(lines) - len(methods)
        for j, c in enumerate((*columns, "average"), 2):
            bold |= {(first + methods.index(method), j) for method in best({m: value.get((m, c)) for m in methods})}
    return Shown([group, "method", *columns, "average"], lines, note, 2, frozenset(bold), frozenset(rules))


def best(value: dict[str, float | None]) -> list[str]:
    """The honest methods with the highest accuracy, as printed."""
    honest = {m: round(v, 3) for m, v in value.items() if v is not None and not is_oracle(m)}
    return [method for method, v in honest.items() if v == max(honest.values())]


def averaged(rows: pl.DataFrame) -> Shown:
    """The same in short: a row per verifier, a column per method, averaged over the language models."""
    if "accuracy" not in rows.columns:
        raise AssertionError("only accuracies are averaged over models")
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


def _cell(row: dict[str, float] | None) -> str:
    return "-" if row is None else cell(row["accuracy"], row["sd"], row["se"])
