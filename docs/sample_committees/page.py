"""docs/sample-committees.md, made of the stored figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from docs.accuracy.page import markdown

HERE = Path(__file__).parent
TITLES = {"aime": "AIME 2024", "gpqa": "GPQA-Diamond", "math500": "MATH-500"}
GROUPS = {
    "in hindsight": {"single best": "best single LLM", "published weights": "published weights of Best-of-infinity"},
    "no labels": {
        "single average": "a single LLM, on average",
        "consensus chosen": "the LLM with the largest weight in the consensus",
        "consensus members": "the three LLMs with the largest weights",
        "majority": "all LLMs, majority",
        "consensus": "all LLMs, consensus",
    },
    "labels": {
        "single chosen": "a single LLM",
        "best members": "the k best LLMs, majority",
        "committee": "all LLMs, committee",
        "few-label": "all LLMs, committee and unlabelled responses",
        "plan": "plan_budget",
        "plan majority": "what plan_budget buys, majority",
        "limit weights": "Best-of-infinity, re-implemented",
    },
}
RULES = {rule: (group, title) for group, rules in GROUPS.items() for rule, title in rules.items()}
SHOWN = (8, 64)  # samples of the tables that do not show all
Row = dict[str, Any]


def stored(name: str) -> pl.DataFrame:
    return pl.read_csv(HERE / f"{name}.csv")


def text() -> str:
    """The page."""
    accuracy, choices = stored("accuracy"), stored("choices")
    at = {(row["set"], row["samples"], row["rule"]): row for row in accuracy.iter_rows(named=True)}
    return (
        (HERE / "template.md")
        .read_text()
        .format(
            headline=headline(at),
            few_loss=across(at, SHOWN[0], "majority", "over_chosen"),
            many_loss=across(at, SHOWN[1], "majority", "over_chosen"),
            plan_loss=across(at, SHOWN[1], "plan", "over_chosen"),
            consensus_chosen=" / ".join(percent(at[name, SHOWN[1], "consensus chosen"]) for name in TITLES),
            tables="\n\n".join(f"**{title}**\n\n{accuracies(accuracy, name)}" for name, title in TITLES.items()),
            differences=differences(at),
            promises=promises(at, choices),
            purchases=purchases(choices),
        )
    )


def headline(at: dict[tuple[str, int, str], Row]) -> str:
    """The accuracies of the summary, a line for each set."""
    largest = max(samples for _, samples, _ in at)
    lines = []
    for name, title in TITLES.items():
        row = {rule: at[name, largest, rule] for rule in RULES if (name, largest, rule) in at}
        lines.append(
            f"- **{title}**, {largest} samples: best single LLM in hindsight {percent(row['single best'])}, "
            f"chosen by labels {percent(row['single chosen'])}; all LLMs with majority {percent(row['majority'])}, "
            f"consensus {percent(row['consensus'])}, committee {percent(row['committee'])}; "
            f"`plan_budget` {percent(row['plan'])}."
        )
    return "\n".join(lines)


def accuracies(table: pl.DataFrame, name: str) -> str:
    """Accuracy of every rule by number of samples; the best without hindsight in bold."""
    own = {(row["rule"], row["samples"]): row for row in table.filter(set=name).iter_rows(named=True)}
    totals = sorted({samples for _, samples in own})
    best = {n: max(own[rule, n]["accuracy"] for rule in RULES if RULES[rule][0] != "in hindsight") for n in totals}
    rows = []
    for rule, (group, title) in RULES.items():
        if (rule, totals[0]) not in own:
            continue
        cells = {n: percent(own[rule, n]) for n in totals}
        bold = {n for n in totals if group != "in hindsight" and own[rule, n]["accuracy"] == best[n]}
        rows.append([group, title, *(f"**{cell}**" if n in bold else cell for n, cell in cells.items())])
    return markdown(["chosen with", "division and vote", *map(str, totals)], rows, text=2)


def differences(at: dict[tuple[str, int, str], Row]) -> str:
    """Differences to the single LLM that the labels choose, in points."""
    head = ["division and vote", *(f"{title}, {n}" for title in TITLES.values() for n in SHOWN)]
    rows = []
    for rule, (_, title) in RULES.items():
        if rule not in ("single chosen", "published weights"):
            rows.append([title, *(points(at[name, n, rule], "over_chosen") for name in TITLES for n in SHOWN)])
    return markdown(head, rows)


def promises(at: dict[tuple[str, int, str], Row], choices: pl.DataFrame) -> str:
    """What plan_budget spends, the accuracy on the labelled questions it chose by, and that on the test questions."""
    rows = []
    for name, title in TITLES.items():
        for n in sorted({samples for _, samples, _ in at}):
            spent = choices.filter(set=name, samples=n, rule="plan majority")["bought"].sum()
            labelled, test = at[name, n, "plan on labels"], at[name, n, "plan"]
            rows.append([title, str(n), f"{spent:.1f}", percent(labelled), percent(test)])
    return markdown(["set", "budget", "samples bought", "labelled questions, cross-validated", "test questions"], rows)


def purchases(choices: pl.DataFrame) -> str:
    """The mean number of samples of each LLM that the rules buy for the largest budget."""
    largest = choices["samples"].max()
    rules = {"plan majority": "plan_budget", "best members": "k best", "limit weights": "Best-of-infinity"}
    rows = []
    for name, title in TITLES.items():
        part = choices.filter(set=name, samples=largest)
        for llm in sorted(part["llm"].unique()):
            bought = [part.filter(llm=llm, rule=rule)["bought"].sum() for rule in rules]
            rows.append([title, llm, *(f"{count:.1f}" for count in bought)])
    return markdown(["set", "LLM", *rules.values()], rows, text=2)


def across(at: dict[tuple[str, int, str], Row], samples: int, rule: str, column: str) -> str:
    """A difference on all sets."""
    return " / ".join(points(at[name, samples, rule], column) for name in TITLES)


def percent(row: Row) -> str:
    return f"{100 * row['accuracy']:.1f} ± {100 * row['se']:.1f}"


def points(row: Row, column: str) -> str:
    return f"{100 * row[column]:+.1f} ± {100 * row[f'{column}_se']:.1f}"
