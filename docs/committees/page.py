"""The page, from the stored tables alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from docs.accuracy.page import markdown
from docs.committees.cascade_page import cascade_part
from docs.committees.cells import MOST, SPLITS
from docs.committees.later_tables import lengths, mixed, mixes, rules
from docs.committees.losses import losses
from docs.committees.measuring import DRAWS, USUAL
from docs.committees.sets import TITLES

HERE = Path(__file__).parent
HEADS = {
    "majority": "majority",
    "consensus": "consensus (no labels)",
    "committee": "committee",
    "few-label": "committee, all answers",
    "best single": "best single LLM",
}
FEW = 20  # labels in the headline
NAMES = ("labels", "sizes", "best", "peers", "rules", "mixes", "lengths", "cascades")


def text() -> str:
    """The whole page."""
    tables = {name: pl.read_csv(HERE / f"{name}.csv") for name in NAMES}
    return (
        (HERE / "template.md")
        .read_text()
        .format(
            headline=headline(tables),
            splits=len(SPLITS),
            most=MOST,
            draws=DRAWS,
            usual=USUAL,
            labels=accuracies(tables["labels"], "labels"),
            gains=gains(tables["labels"]),
            sizes=accuracies(tables["sizes"], "llms"),
            best=accuracies(tables["best"], "llms"),
            peers=peers(tables["peers"]),
            cascades=cascade_part(tables["cascades"]),
            rules=rules(tables["rules"]),
            mixes=mixes(tables["mixes"]),
            mixed=mixed(tables["mixes"]),
            lengths=lengths(tables["lengths"]),
            losses=losses(tables["labels"], tables["sizes"], tables["best"]),
        )
    )


def headline(tables: dict[str, pl.DataFrame]) -> str:
    """The summary of the page."""
    labels = tables["labels"]
    lines = ["**In short.** Votes of 40 LLMs on MATH level 5 and 83 on MMLU-Pro, one answer each; accuracy in % ± SE."]
    for name, title in TITLES.items():
        at = {row["way"]: row for row in labels.filter(set=name, labels=FEW).iter_rows(named=True)}
        full = labels.filter(set=name, labels=USUAL, way="few-label").row(0, named=True)
        lines.append(
            f"- **{title}**: majority vote {_with_error(at['majority'])}, consensus without labels "
            f"{_with_error(at['consensus'])}, committee {_with_error(at['few-label'])} with {FEW} labels and "
            f"{_with_error(full)} with {USUAL}, best single LLM chosen by {FEW} labels "
            f"{_with_error(at['best single'])}."
        )
    cascades = {row["budget"]: row for row in tables["cascades"].filter(policy="cascade").iter_rows(named=True)}
    pairs = [tables["sizes"].filter(set=name, llms=2, way="consensus").row(0, named=True) for name in TITLES]
    skene = tables["rules"].filter(way="dawid-skene").sort("llms").row(-1, named=True)
    return "\n".join(
        [
            *lines,
            f"- **Cascades** on MATH level 5, against the best single LLM: {_lead_at_cost(cascades[3.0])}.",
            "- **Does not work**: with all LLMs, labels add little to the consensus, and with few labels the committee "
            "is below it unless it also uses the unlabelled answers;",
            f"  with 2 LLMs, the consensus is {' and '.join(map(_lead, pairs))} points from the best single one;",
            f"  a cheap cascade loses accuracy ({_lead_at_cost(cascades[0.65])});",
            f"  Dawid-Skene reaches only {_with_error(skene)} with {skene['llms']} LLMs; response length adds nothing. "
            "[Where it does not win](#where-it-does-not-win) lists every loss.",
        ]
    )


def accuracies(table: pl.DataFrame, by: str) -> str:
    """Accuracy of every way by one column, the best in bold."""
    rows = []
    for (name, value), part in table.group_by("set", by, maintain_order=True):
        found = {row["way"]: row for row in part.iter_rows(named=True)}
        best = max(row["accuracy"] for row in found.values())
        cells = [
            f"{'**' if found[way]['accuracy'] == best else ''}{_number(found[way])}"
            f"{'**' if found[way]['accuracy'] == best else ''} ± {100 * found[way]['se']:.1f}"
            for way in HEADS
        ]
        llm = f" ({found['majority']['best']})" if value == "without the best" else ""
        rows.append([TITLES[str(name)], f"{value}{llm}", *cells])
    return markdown(["", {"labels": "labels", "llms": "LLMs"}[by], *HEADS.values()], rows, text=2)


def gains(table: pl.DataFrame) -> str:
    """The lead of the committee that knows all answers over the best single LLM, by number of labels."""
    sizes = table["labels"].unique(maintain_order=True).to_list()
    rows = []
    for name, title in TITLES.items():
        part = table.filter(set=name, way="few-label")
        rows.append(
            [
                title,
                *(f"{100 * r['over_best']:+.1f} ± {100 * r['over_best_se']:.1f}" for r in part.iter_rows(named=True)),
            ]
        )
    return markdown(["", *(f"{size} labels" for size in sizes)], rows)


def peers(table: pl.DataFrame) -> str:
    """Votes without labels beside each other."""
    rows = []
    for row in table.iter_rows(named=True):
        lead = "" if row["way"] == "consensus" else f"{100 * row['behind']:+.1f} ± {100 * row['behind_se']:.1f}"
        accuracy = f"{_number(row)} ± {100 * row['se']:.1f}"
        rows.append([TITLES[row["set"]], row["way"], accuracy, lead, f"{row['seconds']:.2f}"])
    return markdown(["", "vote", "accuracy", "consensus leads by", "seconds"], rows, text=2)


def _lead(row: dict[str, Any]) -> str:
    return f"{100 * row['over_best']:+.1f} ± {100 * row['over_best_se']:.1f}"


def _lead_at_cost(row: dict[str, Any]) -> str:
    return f"{_lead(row)} points at {100 * row['cost']:.0f} % of its cost"


def _with_error(row: dict[str, Any]) -> str:
    return f"{_number(row)} ± {100 * row['se']:.1f}"


def _number(row: dict[str, Any]) -> str:
    return f"{100 * row['accuracy']:.1f}"
