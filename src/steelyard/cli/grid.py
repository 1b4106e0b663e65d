"""steelyard grid: what the bundled responses are, with their base figures."""

from __future__ import annotations

from steelyard.cli import console
from steelyard.cli.grid_figures import figures
from steelyard.cli.options import Json
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent

EXAMPLE = "Example: steelyard grid\n\nExample: steelyard evaluate grid:smol-misled/prm_soft"


def run(json: Json = False) -> None:
    """List the bundled language models and verifiers."""
    stored = figures()
    if json:
        console.as_json(stored)
        return
    llms, verifiers = stored["llms"], stored["verifiers"]
    base = [[name, *(percent(row[key]) for key in ("pass@1", "majority", "pass@n"))] for name, row in llms.items()]
    print_table(
        f"{stored['questions']} questions, {stored['samples']} samples each: accuracy in %",
        ["llm", "one sample", "majority", "any correct"],
        base,
    )
    for title, key in (("AUROC over all responses", "auroc"), ("AUROC within questions", "auroc_within")):
        rows = [[name, *(f"{verifiers[name][llm][key]:.2f}" for llm in llms)] for name in verifiers]
        print_table(f"{title} (0.5: no better than chance)", ["verifier", *llms], rows)
    console.say("Use a pair like a file: steelyard evaluate grid:LLM/VERIFIER. docs/grid.md says how it was made.")
