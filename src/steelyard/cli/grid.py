"""steelyard grid: what the bundled responses are, with their base figures."""

from __future__ import annotations

from steelyard.cli import show
from steelyard.cli.grid_figures import figures
from steelyard.cli.options import Json
from steelyard.evaluation.percentages import percent

EXAMPLE = "Example: steelyard grid\n\nExample: steelyard evaluate grid:smol-misled/prm_soft"


def run(json: Json = False) -> None:
    """List the bundled language models and verifiers."""
    found = figures()
    if json:
        show.as_json(found)
        return
    llms, verifiers = found["llms"], found["verifiers"]
    base = [[name, *(percent(row[key]) for key in ("pass@1", "majority", "pass@n"))] for name, row in llms.items()]
    show.table(
        f"{found['questions']} questions, {found['samples']} samples each: accuracy in %",
        ["llm", "one sample", "majority", "any correct"],
        base,
    )
    for title, key in (("AUROC over all responses", "auroc"), ("AUROC within questions", "auroc_within")):
        rows = [[name, *(f"{verifiers[name][llm][key]:.2f}" for llm in llms)] for name in verifiers]
        show.table(f"{title} (0.5: no better than chance)", ["verifier", *llms], rows)
    show.say("Use a pair like a file: steelyard evaluate grid:LLM/VERIFIER. docs/grid.md says how it was made.")
