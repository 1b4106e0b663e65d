"""The figures of docs/gpu_verdicts.json in docs/benchmarks.md; `python -m benchmarks.gpu_page` writes them there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "docs" / "gpu_verdicts.json"
TITLE = "Verdicts of packed reading on the grid"
PAIRS = {
    "packed_masked": "packed, against with a mask",
    "packed_float32": "packed, against float32",
    "masked_float32": "with a mask, against float32",
}
HEAD = """From [gpu_verdicts.json](gpu_verdicts.json), which `python -m recipes.verdicts texts learn read vote --work W`
made (`learn` and `read` on one H200). The weights of the grid's own verifiers were not kept, so a small Qwen2 trunk
with the head of `qwen-prm` was trained for {learned:.0f} s on generated solutions and on responses to {taught}
questions of the grid. It then scored {texts:,} different responses to the other questions three times: packed, as
`score --local` does; with a mask, as it did before; and with a mask in float32. With each set of scores, a plan was
fitted on 200 questions, and the other {each} questions of every LLM were voted on with 64 samples each.
"""
BETWEEN = """
Of {verdicts:,} verdicts **{same:,} are the same** packed and with a mask ({share:.2%}). Both use bf16, whose noise is
of that size: packed and float32 agree on {packed:,}, the mask and float32 on {masked:,}. Accuracy is in % with standard
errors; the gain is that of packed over masked scores, paired by question:
"""


def section(results: Mapping[str, Any]) -> str:
    """The text of the section."""
    llms = results["llms"]
    verdicts = sum(llm["questions"] for llm in llms)
    same, packed, masked = (verdicts - sum(llm["verdicts"][pair]["differ"] for llm in llms) for pair in PAIRS)
    head = HEAD.format(
        learned=next(line["seconds"] for line in results["log"] if line["stage"] == "learn"),
        taught=results["taught"],
        texts=sum(llm["texts_read"] for llm in llms),
        each=llms[0]["questions"],
    )
    between = BETWEEN.format(verdicts=verdicts, same=same, share=same / verdicts, packed=packed, masked=masked)
    scores = ["| scores of steps | correlation | mean difference | largest difference |", "|---|---:|---:|---:|"]
    for pair, words in PAIRS.items():
        apart = results["scores"][pair]
        numbers = f"{apart['correlation']:.5f} | {apart['mean']:.4f} | {apart['largest']:.3f}"
        scores.append(f"| {words} | {numbers} |")
    table = [
        "| LLM | majority | with a mask | packed | gain | verdicts that differ |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([head, *scores, between, *table, *map(_line, llms)]) + "\n"


def _line(llm: Mapping[str, Any]) -> str:
    found = llm["accuracy"]
    cells = [f"{100 * found[n]['accuracy']:.1f} ± {100 * found[n]['se']:.1f}" for n in ("majority", "masked", "packed")]
    pair = llm["verdicts"]["packed_masked"]
    gain = f"{100 * pair['gain']:+.1f} ± {100 * pair['gain_se']:.1f}"
    return f"| {llm['llm']} | {' | '.join(cells)} | {gain} | {pair['differ']} of {llm['questions']} |"
