"""Write docs/grid.md: the grid's card, every figure computed from the file (`python -m recipes.grid.card`)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import steelyard as sy
from steelyard.jobs.grid_figures import figures

HERE = Path(__file__).parent
CARD = HERE.parent.parent / "docs" / "grid.md"
METHODS = ["majority", "best-of-n", "vanilla", "linear", "logit", "kde", "optimal", "optimal-crossfit", "pass-at-n"]
SEEDS = (0, 1, 2)
PAIRED = ("best-of-n", "vanilla", "logit")


def compare(llm: str, verifier: str) -> dict[str, Any]:
    """Return one pair's accuracies at full N, the mean over seeds, and the errors of what matters most."""
    pool = sy.load_grid(llm, verifier)
    rows, gains, zeros = [], [], []
    for seed in SEEDS:
        cal, test = pool.split(0.3, seed=seed)
        fitted = {name: sy.method_class(name)().fit(cal) for name in METHODS}
        verdicts = {name: method.predict(test) for name, method in fitted.items()}
        rows.append([float(sy.accuracy(verdicts[name], test)) for name in METHODS])
        pairs = [sy.paired_difference(verdicts[name], verdicts["majority"], test) for name in PAIRED]
        gains.append([(float(gain), gain.se) for gain in pairs])
        zeros.append(fitted["logit"].b)  # type: ignore[attr-defined]
    table = dict(zip(METHODS, np.mean(rows, axis=0).tolist(), strict=True))
    mean = np.mean(gains, axis=0)
    return {
        "llm": llm,
        "verifier": verifier,
        **table,
        "se": float(np.sqrt(table["majority"] * (1 - table["majority"]) / test.n_questions)),
        "gains": {name: (float(g), float(se)) for name, (g, se) in zip(PAIRED, mean, strict=True)},
        "b": zeros,
    }


def card() -> str:
    """The whole page."""
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    found = figures()
    llms, verifiers = list(found["llms"]), list(found["verifiers"])
    pairs = [compare(llm, verifier) for llm in llms for verifier in verifiers if not verifier.startswith("self")]
    own = [compare(llm, verifier) for llm in llms for verifier in verifiers if verifier.startswith("self")]
    return (
        (HERE / "card.template.md")
        .read_text()
        .format(
            base=base_table(found),
            auroc=auroc_table(found, "auroc"),
            within=auroc_table(found, "auroc_within"),
            pairs=comparison_table(pairs),
            own=comparison_table(own),
            finding=finding(pairs + own),
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
    """One AUROC a verifier and language model."""
    llms = list(found["llms"])
    rows = [[f"`{name}`", *(f"{row[llm][key]:.2f}" for llm in llms)] for name, row in found["verifiers"].items()]
    return markdown(["verifier", *(f"`{llm}`" for llm in llms)], rows)


def comparison_table(pairs: list[dict[str, Any]]) -> str:
    """Accuracy of every method for every pair, the best honest one in bold."""
    honest = METHODS[:6]
    rows = []
    for pair in pairs:
        best = max(pair[name] for name in honest)
        cells = [
            f"**{100 * pair[n]:.1f}**" if n in honest and pair[n] == best else f"{100 * pair[n]:.1f}" for n in METHODS
        ]
        zero = " ".join(f"{b:.2f}" for b in pair["b"])
        rows.append([f"`{pair['llm']}`", f"`{pair['verifier']}`", *cells, f"{100 * pair['se']:.1f}", zero])
    return markdown(["LLM", "verifier", *METHODS, "se", "b of logit"], rows, text=2)


def finding(pairs: list[dict[str, Any]]) -> str:
    """What the comparison says, counted."""

    def significant(name: str, sign: int) -> int:
        return sum(sign * gain > 2 * se for gain, se in (pair["gains"][name] for pair in pairs))

    lines = []
    for name in PAIRED:
        mean = 100 * np.mean([pair["gains"][name][0] for pair in pairs])
        lines.append(
            f"- `{name}` is more than two standard errors above majority in {significant(name, 1)} of {len(pairs)} "
            f"pairs, below in {significant(name, -1)}; mean {mean:+.1f} points."
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


if __name__ == "__main__":
    CARD.write_text(card())
    print(f"written: {CARD}")
