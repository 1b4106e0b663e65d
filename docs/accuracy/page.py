"""The page, from the stored tables alone."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from docs.accuracy.gains import METHODS

GROUPS = {
    "grid": "the 35 pairs of the grid",
    "self": "self-assessments",
    "simulated": "simulated worlds",
    "shuffled": "control: scores dealt out at random",
    "inverted": "control: scores turned round",
}
BELOW = 1.96


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> str:
    """A table whose first columns are text and the others numbers."""
    rule = ["---" if i < text else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"


def mean_gains(gains: pl.DataFrame) -> str:
    """The mean gain over majority by group, calibration size and method, the best in bold."""
    rows = []
    for (group, size), part in gains.group_by("group", "calibration", maintain_order=True):
        mean = {m: 100 * part.filter(method=m)["gain"].to_numpy().mean() for m in METHODS}
        best = max(mean.values())
        cells = [f"**{mean[m]:+.2f}**" if mean[m] == best else f"{mean[m]:+.2f}" for m in METHODS]
        rows.append([GROUPS[str(group)], str(size), *cells])
    return markdown(["", "calibration questions", *METHODS], rows)


def worst_cells(gains: pl.DataFrame) -> str:
    """The worst pool, and how many cells lie significantly below the better of majority and vanilla."""
    rows = []
    for (group, size), part in gains.group_by("group", "calibration", maintain_order=True):
        cells = []
        for method in METHODS:
            mine = part.filter(method=method)
            low, below, count = mine["gain"].to_numpy().min(), mine["below"].sum(), mine["cells"].sum()
            cells.append(f"{100 * low:+.1f}, {below}/{count}")
        rows.append([GROUPS[str(group)], str(size), *cells])
    return markdown(["", "calibration questions", *METHODS], rows)


def confidence(gains: pl.DataFrame, size: int = 200) -> str:
    """ECE of the calibrated confidence on every pair, beside what chance alone would show."""
    mine = gains.filter(pl.col("calibration") == size, pl.col("group").is_in(["grid", "self"]), method="calibrated")
    raw = gains.filter(pl.col("calibration") == size, pl.col("group").is_in(["grid", "self"]), method="vanilla")
    rows = [
        [
            f"`{a['pool']}`",
            f"{a['ece']:.3f}",
            f"{a['floor']:.3f}",
            f"{a['aurc']:.3f}",
            f"{b['ece']:.3f}",
            f"{b['aurc']:.3f}",
        ]
        for a, b in zip(mine.iter_rows(named=True), raw.iter_rows(named=True), strict=True)
    ]
    return markdown(["pair", "ECE", "by chance", "AURC", "ECE of vanilla's share", "its AURC"], rows)


def needed(table: pl.DataFrame) -> str:
    """Samples to match vanilla's accuracy at 64."""

    def share(row: dict[str, float | None], name: str) -> str:
        if row[name] is None:
            return "never"
        high = row[f"{name}_high"]
        ends = [f"{100 * (row[f'{name}_low'] or 0):.0f}", "never" if high is None else f"{100 * high:.0f}"]
        return f"{100 * (row[name] or 0):.0f} % ({' to '.join(ends)})"

    rows = [
        [
            str(row["pair"]) if row["within"] is None else f"`{row['pair']}`",
            "" if row["within"] is None else f"{row['within']:.2f}",
            f"{100 * row['vanilla']:.1f}",
            share(row, "logit"),
            share(row, "calibrated"),
        ]
        for row in table.iter_rows(named=True)
    ]
    return markdown(["pair", "AUROC within", "vanilla at 64", "logit", "calibrated"], rows)


def stopped(table: pl.DataFrame) -> str:
    """Mean samples a question to match vanilla's accuracy at 64, the same for all and with stopping."""

    def samples(row: dict[str, float | None], way: str) -> str:
        if row[way] is None:
            return "never"
        low, high = row[f"{way}_low"], row[f"{way}_high"]
        return f"{row[way]:.1f} ({low or 0:.1f} to {'never' if high is None else f'{high:.1f}'})"

    rows = [
        [f"`{row['pair']}`", f"{row['within']:.2f}", samples(row, "fixed"), samples(row, "chosen")]
        for row in table.iter_rows(named=True)
    ]
    return markdown(["pair", "AUROC within", "the same for every question", "with stopping"], rows)


def promised(table: pl.DataFrame) -> str:
    """What became of the promises."""
    rows = [
        [
            f"`{row['llm']}/{row['verifier']}`",
            str(row["promised"]),
            str(row["broken"]),
            "-" if row["coverage"] is None else f"{100 * row['coverage']:.0f}",
            "-" if row["error"] is None else f"{100 * row['error']:.1f}",
        ]
        for row in table.iter_rows(named=True)
    ]
    return markdown(["pair", "promised", "broken", "answered %", "wrong among them %"], rows)


def below_share(gains: pl.DataFrame, group: str, method: str) -> tuple[int, int]:
    """Cells significantly below the better of majority and vanilla, and all."""
    mine = gains.filter(group=group, method=method)
    return int(mine["below"].sum()), int(mine["cells"].sum())
