"""Measure the evidence, write docs/accuracy.md.

python -m docs.accuracy [gains needed stopping trust promises frugal joint committees page]
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import polars as pl

import steelyard as sy
from docs.accuracy import page, summaries
from docs.accuracy.cells import SEEDS, sources
from docs.accuracy.committee_joint import ALIKE, BY_SIZE, SAMPLES, committee_table, committees
from docs.accuracy.frugal import GOOD, LABELS, LITTLE, frugal, frugal_table, still_read
from docs.accuracy.gains import averaged, gains, summed
from docs.accuracy.harm import SAMPLES as HARM_SAMPLES
from docs.accuracy.harm import harm_sentences, harm_table
from docs.accuracy.joint import joint, joint_table
from docs.accuracy.needed import samples_needed, with_stopping
from docs.accuracy.trust import PROMISES, RISK, SPLITS, SURE, after, promises, trust
from docs.reproduction import results
from steelyard.evaluation.scores_on_demand import PRICE

HERE = Path(__file__).parent


def text() -> str:
    """The whole page."""
    found = pl.read_csv(HERE / "gains.csv")
    found, means = (_in_order(table) for table in (found, pl.read_csv(HERE / "means.csv")))
    mine = found.filter(group="grid", method="calibrated")
    ours = means.filter(group="grid", method="calibrated")
    at = {size: ours.row(by_predicate=pl.col("calibration") == size, named=True) for size in (50, 400)}
    for _, part in means.filter(group="grid").group_by("calibration"):
        if part.sort("gain")["method"][-1] != "calibrated":
            raise AssertionError("the page says that calibrated gains most at every size, and it does not")
    below, cells = page.below_share(found, "grid", "calibrated")
    trusted = pl.read_csv(HERE / "trust.csv")
    at_200 = trusted.filter(summaries.VERIFIED, calibration=200)
    kept = pl.read_csv(HERE / "promises.csv", infer_schema_length=None)
    stopping = pl.read_csv(HERE / "stopping.csv", infer_schema_length=None)
    asked, how_good = (pl.read_csv(HERE / f"{name}.csv", infer_schema_length=None) for name in ("frugal", "needed"))
    alone, together = (
        pl.read_csv(HERE / f"{name}.csv", infer_schema_length=None) for name in ("joint", "committee_joint")
    )
    better = summaries.better_confidence(trusted)
    poor = summaries.poor_gains(mine.filter(calibration=50), how_good)
    harmed, harmed_before = (pl.read_csv(HERE / f"{name}.csv") for name in ("harm", "harm_before"))
    once = mine.filter(pl.col("below") > 0).group_by("pool").agg(pl.col("below").sum()).sort("below", descending=True)
    marks = {True: "holds", False: "does not hold", None: "no claim to test"}
    claims = [[f"[{r.name}](reproduction.md#{r.name})", marks[r.finding.holds], r.finding.title] for r in results()]
    return (
        (HERE / "template.md")
        .read_text()
        .format(
            harm=harm_table(harmed, harmed_before),
            harm_samples=HARM_SAMPLES,
            **harm_sentences(harmed, harmed_before),
            poor_pairs=len(poor),
            poor_gain=f"{poor.mean():+.1f}",
            poor_worst=f"{poor.min():+.1f}",
            poor_best=f"{poor.max():+.1f}",
            own_gain=page.points(means.filter(group="self", method="calibrated", calibration=50).row(0, named=True)),
            few=page.points(at[50]),
            many=page.points(at[400]),
            below=below,
            cells=cells,
            chance=f"{0.025 * cells:.0f}",
            ece_pairs=(at_200["ece"] <= summaries.GOAL).sum(),
            ece_all=len(at_200),
            ece_mean=f"{at_200['ece'].to_numpy().mean():.3f}",
            ece_floor=f"{at_200['floor'].to_numpy().mean():.3f}",
            ece_splits=len(SPLITS),
            worst_pools=", ".join(f"`{row['pool']}` {row['below']}" for row in once.iter_rows(named=True)) or "none",
            ece_worst=f"{at_200['ece'].to_numpy().max():.3f}",
            seeds=", ".join(map(str, SEEDS)),
            gains=page.mean_gains(means),
            by_method=page.gains_by_method(found, means),
            by_group=page.gains_by_group(found, means),
            shown_size=page.SHOWN_SIZE,
            confidence=summaries.confidence(trusted),
            better_ece=better["ece"],
            better_brier=better["brier"],
            better_aurc=better["aurc"],
            confidence_after=summaries.confidence_after(pl.read_csv(HERE / "after.csv")),
            confidence_by_size=summaries.confidence_by_size(trusted),
            needed=summaries.needed(how_good),
            stopping=summaries.stopped(stopping),
            frugal=frugal_table(asked, how_good),
            frugal_poor=still_read(asked, how_good),
            frugal_good=GOOD,
            frugal_little=f"{LITTLE:.0%}",
            frugal_price=f"{100 * PRICE:g}",
            joint=joint_table(alone, how_good),
            committee_alike=committee_table(together, alone, how_good, ALIKE),
            committee_by_size=committee_table(together, alone, how_good, BY_SIZE),
            committee_samples=SAMPLES,
            frugal_labels=LABELS,
            promises=summaries.promised(kept, stopping),
            attempts=len(PROMISES) * kept.height,
            promised=kept["promised"].sum(),
            broken=kept["broken"].sum(),
            most_broken=kept["broken"].max(),
            broken_others=kept["broken_others"].sum(),
            most_others=kept["broken_others"].max(),
            promise_pairs=kept.height,
            risk=f"{RISK:.0%}",
            sure=f"{SURE:.0%}",
            splits=len(PROMISES),
            claims=page.markdown(["experiment", "the paper's finding here", "what the grid shows"], claims, text=3),
        )
    )


def _in_order(table: pl.DataFrame) -> pl.DataFrame:
    order = [*page.GROUPS]
    return table.sort(pl.col("group").replace_strict(order, range(len(order))), "calibration", maintain_order=True)


def main(parts: list[str]) -> None:
    """Measure the parts that are named, all if none is, and write the page."""
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    wanted = parts or ["gains", "needed", "stopping", "trust", "promises", "frugal", "joint", "committees"]
    if "gains" in wanted:
        found = gains(sources())
        summed(found).write_csv(HERE / "gains.csv", float_precision=6)
        averaged(found).write_csv(HERE / "means.csv", float_precision=6)
    if "needed" in wanted:
        samples_needed().write_csv(HERE / "needed.csv", float_precision=6)
    if "stopping" in wanted:
        with_stopping().write_csv(HERE / "stopping.csv", float_precision=6)
    if "trust" in wanted:
        trust().write_csv(HERE / "trust.csv", float_precision=6)
        after().write_csv(HERE / "after.csv", float_precision=6)
    if "promises" in wanted:
        promises().write_csv(HERE / "promises.csv", float_precision=6)
    if "frugal" in wanted:
        frugal().write_csv(HERE / "frugal.csv", float_precision=6)
    if "joint" in wanted:
        joint().write_csv(HERE / "joint.csv", float_precision=6)
    if "committees" in wanted:
        committees().write_csv(HERE / "committee_joint.csv", float_precision=6)
    (HERE.parent / "accuracy.md").write_text(text())
    print("written: docs/accuracy.md")


if __name__ == "__main__":
    main(sys.argv[1:])
