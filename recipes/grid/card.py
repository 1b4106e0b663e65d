"""Write docs/grid.md and docs/grid.csv: the grid's card, every figure computed from the file.

`python -m recipes.grid.card` measures every pair; the page shows averages, and the file beside it has all pairs.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from recipes.grid.figures import figures

HERE = Path(__file__).parent
CARD = HERE.parent.parent / "docs" / "grid.md"
PAIRS = CARD.with_suffix(".csv")
DECIMALS = 6
METHODS = ["majority", "best-of-n", "vanilla", "linear", "logit", "kde", "optimal", "optimal-crossfit", "pass-at-n"]
SEEDS = (0, 1, 2)
PAIRED = ("best-of-n", "vanilla", "logit")


def compare(llm: str, verifier: str) -> dict[str, Any]:
    """Return one pair's accuracies at full N, the mean over seeds, and the errors of what matters most."""
    pool = sy.paper.load_grid(llm, verifier)
    rows, gains, zeros = [], [], []
    for seed in SEEDS:
        cal, test = pool.split(0.3, seed=seed)
        fitted = {name: sy.method_class(name)().fit(cal) for name in METHODS}
        verdicts = {name: method.predict(test) for name, method in fitted.items()}
        rows.append([float(sy.accuracy(verdicts[name], test)) for name in METHODS])
        pairs = [sy.evaluation.paired_difference(verdicts[name], verdicts["majority"], test) for name in PAIRED]
        gains.append([(float(gain), gain.se) for gain in pairs])
        zeros.append(fitted["logit"].b)  # type: ignore[attr-defined]
    table = dict(zip(METHODS, np.mean(rows, axis=0).tolist(), strict=True))
    mean = np.mean(gains, axis=0)
    errors = {f"{name}_gain_se": se for name, se in zip(PAIRED, mean[:, 1].tolist(), strict=True)}
    found = {
        **table,
        "se": float(np.sqrt(table["majority"] * (1 - table["majority"]) / test.n_questions)),
        **{f"{name}_gain": gain for name, gain in zip(PAIRED, mean[:, 0].tolist(), strict=True)},
        **errors,
        **{f"b_{seed}": b for seed, b in zip(SEEDS, zeros, strict=True)},
    }
    return {"llm": llm, "verifier": verifier, **{name: round(value, DECIMALS) for name, value in found.items()}}


def measured() -> pl.DataFrame:
    """One row per pair of the grid."""
    llms, verifiers = sy.paper.grid_names()
    return pl.DataFrame([compare(llm, verifier) for llm in llms for verifier in verifiers])


def card(pairs: pl.DataFrame) -> str:
    """The whole page, from the measured pairs."""
    found = figures()
    own = pl.col("verifier").str.starts_with("self")
    return (
        (HERE / "card.template.md")
        .read_text()
        .format(
            base=base_table(found),
            auroc=auroc_table(found, "auroc"),
            within=auroc_table(found, "auroc_within"),
            pairs=comparison_table(pairs.filter(~own)),
            own=comparison_table(pairs.filter(own)),
            offsets=offset_range(pairs.filter(~own)),
            errors=error_range(pairs),
            finding=finding(pairs),
            log=log_table(),
            questions=found["questions"],
            samples=found["samples"],
        )
    )


def base_table(found: dict[str, Any]) -> str:
    """Pass@1, majority and pass@N of every language model."""
    rows = [
        [f"`{name}`", *(f"{100 * row[k]:.1f}" for k in ("pass@1", "majority", "pass@n"))]
        for name, row in found["llms"].items()
    ]
    return markdown(["LLM", "pass@1", "majority", f"pass@{found['samples']}"], rows)


def auroc_table(found: dict[str, Any], key: str) -> str:
    """One AUROC per verifier and language model."""
    llms = list(found["llms"])
    rows = [[f"`{name}`", *(f"{row[llm][key]:.2f}" for llm in llms)] for name, row in found["verifiers"].items()]
    return markdown(["verifier", *(f"`{llm}`" for llm in llms)], rows)


def comparison_table(pairs: pl.DataFrame) -> str:
    """Accuracy of every method by verifier, averaged over the language models, the best honest one in bold."""
    honest = METHODS[:6]
    rows = []
    parts = [(f"`{name}`", part) for (name,), part in pairs.group_by("verifier", maintain_order=True)]
    for name, part in (*parts, ("average", pairs)):
        mean = {method: float(part[method].to_numpy().mean()) for method in METHODS}
        best = max(mean[method] for method in honest)
        cells = [
            f"**{100 * mean[m]:.1f}**" if m in honest and mean[m] == best else f"{100 * mean[m]:.1f}" for m in METHODS
        ]
        rows.append([name, *cells])
    return markdown(["verifier", *METHODS], rows)


def offset_range(pairs: pl.DataFrame) -> str:
    """Where the fitted zero-crossing of the logit vote lies."""
    offsets = pairs.select(f"b_{seed}" for seed in SEEDS).to_numpy()
    low, middle, high = np.quantile(offsets, (0.25, 0.5, 0.75))
    return f"{middle:.2f} (quartiles {low:.2f} and {high:.2f})"


def error_range(pairs: pl.DataFrame) -> str:
    """The standard errors of the accuracies of single pairs, in points."""
    errors = 100 * pairs["se"].to_numpy()
    return f"{errors.min():.1f} to {errors.max():.1f}"


def finding(pairs: pl.DataFrame) -> str:
    """What the comparison says, counted, with the best and the worst pair."""
    lines = []
    for name in PAIRED:
        gain, se = pairs[f"{name}_gain"], pairs[f"{name}_gain_se"]
        ends = [pairs.row(int(place), named=True) for place in (gain.arg_max() or 0, gain.arg_min() or 0)]
        told = [
            f"{100 * row[f'{name}_gain']:+.1f} ± {100 * row[f'{name}_gain_se']:.1f} (`{row['llm']}/{row['verifier']}`)"
            for row in ends
        ]
        above, below, mean = (gain > 2 * se).sum(), (gain < -2 * se).sum(), 100 * gain.to_numpy().mean()
        lines.append(
            f"- `{name}` is more than two standard errors above majority in {above} of {pairs.height} pairs and below "
            f"in {below}; its mean gain is {mean:+.1f} points, the best {told[0]}, the worst {told[1]}."
        )
    return "\n".join(lines)


def log_table() -> str:
    """The short log of the run: what each stage made, in how many seconds, with which figures."""
    rows = []
    for line in (HERE / "log.jsonl").read_text().splitlines():
        record = json.loads(line)
        stage, item, seconds = record.pop("stage"), record.pop("item"), record.pop("seconds")
        if stage != "scores":
            told = ", ".join(f"{name} {_short(value)}" for name, value in record.items() if not isinstance(value, dict))
            rows.append([stage, f"`{item}`", f"{seconds:.0f}", told])
    return markdown(["stage", "item", "seconds", "figures"], rows, text=4)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(f"{v:.3f}" for v in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def markdown(head: list[str], rows: list[list[str]], text: int = 1) -> str:
    """A table whose first columns are text and the others numbers."""
    rule = ["---" if i < text else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def main() -> None:
    """Measure every pair and write both files."""
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    measured().write_csv(PAIRS)
    CARD.write_text(card(pl.read_csv(PAIRS)))
    print(f"written: {CARD}, {PAIRS}")


if __name__ == "__main__":
    main()
