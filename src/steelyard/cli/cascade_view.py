"""What plan-budget reads and shows where sources have prices: whom to ask, what that costs and gives."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli import show
from steelyard.cli.options import names
from steelyard.evaluation.percentages import percent, points
from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    from steelyard.evaluation.plan_cascade import Cascaded


def prices_of(pairs: list[str] | None) -> dict[str, float] | None:
    """Read NAME=PRICE pairs, one an option or several with commas.

    >>> prices_of(["gpt=10,llama=0.1"])
    {'gpt': 10.0, 'llama': 0.1}
    """
    if pairs is None:
        return None
    found: dict[str, float] = {}
    for pair in names(pairs) or []:
        name, sep, price = pair.rpartition("=")
        try:
            value = float(price)
        except ValueError:
            value = float("nan")
        if not (name and sep) or isnan(value):
            raise SettingError(f"cannot read the price {pair!r}: write NAME=PRICE, as in gpt=10, per million tokens")
        if found.setdefault(name, value) != value:
            raise SettingError(f"two prices for {name!r}: {found[name]:g} and {value:g}; give one")
    return found


def budget_of(text: str | None) -> float | str | None:
    """Read a mean cost per question; a share such as 65% stays a text.

    >>> budget_of("0.01"), budget_of("65%")
    (0.01, '65%')
    """
    if text is None or text.endswith("%"):
        return text
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"cannot read the budget {text!r:.40}: give a cost per question, as 0.01, or 65%") from None


def check_aim(
    samples: float | None, loss: float | None, budget: str | None, prices: dict[str, float] | None, cost: str | None
) -> dict[str, float] | None:
    """Refuse options that do not go together, and return the prices."""
    if prices is None and cost is None:
        if budget is not None:
            raise SettingError("a --budget is in money: give --price NAME=PRICE or --cost COLUMN too, or --samples 8")
        return None
    if prices is not None and cost is not None:
        raise SettingError("give --price or --cost, not both: a column of costs needs no prices")
    if samples is not None:
        raise SettingError("--samples counts samples, and prices count money: use --budget 65% or --loss 0.01")
    if budget is None and loss is None:
        raise SettingError("say what to aim for: --budget 65% (of what the best source costs) or --loss 0.01 (a point)")
    return prices


def cascade_view(found: Cascaded, output: Path | None, overwrite: bool, json: bool, seed: int) -> None:
    """Write the plan and print the curve."""
    if output:
        found.method.save(output, overwrite=overwrite)
    if json:
        sizes = {"calibration_questions": found.calibration_questions, "test_questions": found.test_questions}
        plain = {"cascade": found.cascade.plain(), "figures": found.figures, "advice": found.advice()}
        show.as_json({"rows": found.curve.to_dicts(), **plain, **sizes, "seed": seed})
        return
    rows = []
    for row in found.curve.iter_rows(named=True):
        accuracy = (
            f"{percent(row['accuracy'])} ± {percent(row['se'])}",
            f"{percent(row['low'])} to {percent(row['high'])}",
        )
        gain = "" if row["policy"] == "best single" else f"{points(row['gain'])} ± {percent(row['gain_se'])}"
        rows.append((f"{row['policy']}{' *' * row['chosen']}", f"{row['cost']:.4g}", *accuracy, gain, row["asks"]))
    heads = ("policy", "cost", "accuracy %", "interval", "against best", "asks")
    show.table(
        f"Accuracy over cost on {found.test_questions} questions, learned on {found.calibration_questions} others",
        heads, rows, text=True,
    )  # fmt: skip
    print("cost: mean per question; against best: points, paired, against the best single source.")
    print("* the cascade of the plan. 'below 0.7': where the answer so far is less likely than that to be correct.\n")
    show.say(found.advice())
    show.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to keep this cascade.")
