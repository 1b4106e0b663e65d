"""Samples, confidence and promises on the page, from the stored tables alone; every pair is in the files beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from docs.accuracy.needed import GOOD
from docs.accuracy.page import SHOWN_SIZE, markdown
from docs.accuracy.trust import PROMISES

GOAL = 0.05  # of the expected calibration error
VERIFIED = ~pl.col("pair").str.contains("/self_")


def kinds(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of all pairs, of those with a good verifier and of those with a poor one."""
    good = pl.col("within") >= GOOD
    yield from (("all pairs", table), ("good verifiers", table.filter(good)), ("poor verifiers", table.filter(~good)))


def poor_gains(gains: pl.DataFrame, needed: pl.DataFrame) -> NDArray[np.float64]:
    """The gain in points of each pair whose verifier is poor."""
    poor = needed.filter(pl.col("within") < GOOD)["pair"].implode()
    points = gains.filter(pl.col("pool").is_in(poor)).select(gain=100 * pl.col("gain"))
    return np.asarray(points["gain"].to_numpy(), np.float64)


def needed(table: pl.DataFrame) -> str:
    """Samples to match vanilla's accuracy at 64: averages, and how many pairs never do."""

    def share(row: dict[str, float | None], name: str) -> str:
        if row[name] is None:
            return "never"
        high = row[f"{name}_high"]
        ends = [f"{100 * (row[f'{name}_low'] or 0):.0f}", "never" if high is None else f"{100 * high:.0f}"]
        return f"{100 * (row[name] or 0):.0f} % ({' to '.join(ends)})"

    average = {row["pair"]: row for row in table.filter(pl.col("within").is_null()).iter_rows(named=True)}
    rows = []
    for name, part in kinds(table.drop_nulls("within")):
        row = average[name]
        never = [f"{part[method].null_count()} of {part.height}" for method in ("logit", "calibrated")]
        rows.append([name, f"{100 * row['vanilla']:.1f}", share(row, "logit"), share(row, "calibrated"), *never])
    return markdown(["", "vanilla at 64", "logit", "calibrated", "logit never", "calibrated never"], rows)


def stopped(table: pl.DataFrame) -> str:
    """Mean samples per question to match vanilla's accuracy at 64, the same for all and with stopping."""
    rows = []
    for name, part in kinds(table):
        fixed, chosen = (part[way].fill_null(np.inf).to_numpy() for way in ("fixed", "chosen"))
        medians = [f"{np.median(way):.1f}" for way in (fixed, chosen)]
        ends = [_best(part, "chosen", "{:.1f}"), _worst(part, "chosen", "{:.1f}")]
        counts = [f"{found.sum()} of {part.height}" for found in (chosen < fixed, chosen > fixed)]
        rows.append([name, *medians, *ends, *counts])
    head = ["same for every question", "with stopping", "fewest with stopping", "most", "pairs that save", "that lose"]
    return markdown(["", *head], rows)


def confidence(trust: pl.DataFrame) -> str:
    """ECE, Brier and AURC of the learned confidence and of vanilla's share, with the best and worst pair."""
    rows = []
    for name, part in (("the 35 pairs", trust.filter(VERIFIED)), ("self-assessments", trust.filter(~VERIFIED))):
        here = part.filter(calibration=SHOWN_SIZE)
        for whose, start in (("confidence of `calibrated`", ""), ("share of `vanilla`", "vanilla_")):
            ece, brier, aurc = (f"{start}{measure}" for measure in ("ece", "brier", "aurc"))
            means = [f"{here[column].to_numpy().mean():.3f}" for column in (ece, brier, aurc)]
            rows.append([name, whose, *means, _best(here, ece, "{:.3f}"), _worst(here, ece, "{:.3f}")])
    return markdown(["", "", "ECE", "Brier", "AURC", "best ECE", "worst ECE"], rows, text=2)


def better_confidence(trust: pl.DataFrame) -> dict[str, str]:
    """On how many pairs the learned confidence beats vanilla's share, by measure."""
    here = trust.filter(calibration=SHOWN_SIZE)
    return {
        name: f"{(here[name] < here[f'vanilla_{name}']).sum()} of {here.height}" for name in ("ece", "brier", "aurc")
    }


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
    return markdown(["samples", "mean confidence", "accuracy", "ECE"], rows, text=0)


def promised(table: pl.DataFrame, within: pl.DataFrame) -> str:
    """What became of the promises; answered and wrong are means over the promises that were made."""
    rows = []
    for name, part in kinds(table.join(within.select("pair", "within"), on="pair", how="left")):
        made = part["promised"].to_numpy()
        broken = [f"{part[way].sum()}, {part[way].to_numpy().max()}" for way in ("broken", "broken_others")]
        means = [
            f"{100 * np.average(part[way].fill_null(0.0).to_numpy(), weights=made):.1f}"
            for way in ("coverage", "error")
        ]
        rows.append([name, f"{made.sum()} of {len(PROMISES) * part.height}", *broken, *means])
    return markdown(["", "promised", "broken, most on a pair", "on the 600 alone", "answered %", "wrong %"], rows)


def _best(table: pl.DataFrame, column: str, form: str) -> str:
    return _named(table.sort(column, nulls_last=True, maintain_order=True).row(0, named=True), column, form)


def _worst(table: pl.DataFrame, column: str, form: str) -> str:
    return _named(table.sort(column, nulls_last=True, maintain_order=True).row(-1, named=True), column, form)


def _named(row: dict[str, Any], column: str, form: str) -> str:
    value = "never" if row[column] is None else form.format(row[column])
    return f"{value} ({row['pair']})"
