"""What asking the verifier on demand saves, as a table or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.evaluation.percentages import percent, points

if TYPE_CHECKING:
    import polars as pl


def frugal_view(result: pl.DataFrame, facts: dict[str, Any], json: bool) -> None:
    """Show one row per method and n: what was read, and what the verdicts are worth."""
    if json:
        show.as_json({"rows": result.to_dicts(), **facts})
        return
    rows = [
        (
            row["method"],
            str(row["n"]),
            percent(row["scored"]),
            f"{percent(row['accuracy'])} ± {percent(row['se'])}",
            percent(row["all_scores"]),
            f"{points(row['gain'])} ± {percent(row['gain_se'])}",
            str(row["changed"]),
            *("-" if row[name] is None else f"{row[name]:.3f}" for name in ("ece", "ece_all_scores")),
        )
        for row in result.iter_rows(named=True)
    ]
    heads = (
        "method",
        "n",
        "scored %",
        "accuracy %",
        "all scores",
        "gain on majority",
        "changed",
        "ECE",
        "of all scores",
    )
    title = (
        f"Asking by {facts['rule']}: {facts['test_questions']} test questions, {facts['calibration_questions']} others"
    )
    show.table(title, heads, rows)
    show.tell("scored: share of the responses that the verifier reads, equal texts of a question once;")
    show.tell("changed: verdicts that are not those of all scores; error: standard error over questions.")
    for row in result.iter_rows(named=True):
        if row["advice"]:
            show.tell(f"{row['method']}, n = {row['n']}: {row['advice']}")


def check_frugal(rule: str | None, price: float | None) -> None:
    """Refuse a rule that there is not, and a price without a rule that reads it, before any file is read."""
    from steelyard.evaluation.scores_on_demand import check_price
    from steelyard.foundation.errors import SettingError, did_you_mean
    from steelyard.voting.on_demand import asking_names

    known = asking_names()
    if rule is not None and rule not in known:
        raise SettingError(f"there is no rule {rule!r} for --frugal here: {did_you_mean(rule, known)}")
    if price is not None and rule != "expected":
        raise SettingError("--price-score is for --frugal expected: add it, or leave the price out")
    if price is not None:
        check_price(price)
