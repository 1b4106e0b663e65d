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
GOAL = 0.05  # of the expected calibration error
VERIFIED = ~pl.col("pair").str.contains("/self_")


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> str:
    """A table whose first columns are text and the others numbers."""
    rule = ["---" if i < text else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"


def mean_gains(means: pl.DataFrame) -> str:
    """The mean gain over majority by group, calibration size and method, the best in bold."""
    rows = []
    methods = [name for name in METHODS if name != "majority"]
    for (group, size), part in means.group_by("group", "calibration", maintain_order=True):
        gain = {row["method"]: (100 * row["gain"], 100 * row["gain_se"]) for row in part.iter_rows(named=True)}
        best = max(mean for mean, _ in gain.values())
        marked = {name: f"**{mean:+.2f}**" if mean == best else f"{mean:+.2f}" for name, (mean, _) in gain.items()}
        cells = [f"{marked[name]} ± {gain[name][1]:.2f}" for name in methods]
        rows.append([GROUPS[str(group)], str(size), *cells])
    return markdown(["", "calibration questions", *methods], rows)


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


def confidence(trust: pl.DataFrame, size: int = 200) -> str:
    """ECE of the calibrated confidence on every pair, beside what chance alone would show."""
    names = ("ece", "floor", "brier", "aurc", "vanilla_ece", "vanilla_brier", "vanilla_aurc")
    rows = [
        [f"`{row['pair']}`", *(f"{row[name]:.3f}" for name in names)]
        for row in trust.filter(calibration=size).iter_rows(named=True)
    ]
    return markdown(["pair", "ECE", "by chance", "Brier", "AURC", "ECE of vanilla's share", "Brier", "AURC"], rows)


def confidence_by_size(trust: pl.DataFrame) -> str:
    """The same over the 35 pairs of language model and verifier, by calibration size."""
    rows = []
    for (size,), part in trust.filter(VERIFIED).group_by("calibration", maintain_order=True):
        mean = {name: f"{part[name].to_numpy().mean():.3f}" for name in ("ece", "floor", "brier", "aurc")}
        within = f"{(part['ece'] <= GOAL).sum()} of {part.height}"
        rows.append([str(size), *mean.values(), f"{part['ece'].to_numpy().max():.3f}", within])
    head = ["calibration questions", "ECE", "by chance", "Brier", "AURC", "worst ECE", f"pairs with at most {GOAL}"]
    return markdown(head, rows)


def confidence_after(table: pl.DataFrame) -> str:
    """Mean confidence, accuracy and ECE after some of the samples."""
    rows = [
        [str(row["samples"]), f"{row['confidence']:.3f}", f"{row['accuracy']:.3f}", f"{row['ece']:.3f}"]
        for row in table.iter_rows(named=True)
    ]
    return markdown(["samples", "mean confidence", "right", "ECE"], rows, text=0)


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
            f"`{row['pair']}`",
            *(str(row[name]) for name in ("promised", "broken", "broken_others")),
            *("-" if row[name] is None else f"{100 * row[name]:.1f}" for name in ("coverage", "error")),
        ]
        for row in table.iter_rows(named=True)
    ]
    return markdown(["pair", "promised", "broken", "on the 600", "answered %", "wrong among them %"], rows)


def below_share(gains: pl.DataFrame, group: str, method: str) -> tuple[int, int]:
    """Cells significantly below the better of majority and vanilla, and all."""
    mine = gains.filter(group=group, method=method)
    return int(mine["below"].sum()), int(mine["cells"].sum())
