"""The figures of docs/ray_gpu.json in docs/scale-costs.md; `python -m docs.scale` writes them there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WAYS = {
    "one process": "`--local --engine processes:1`, without Ray",
    "ray, one worker": "`--local --engine ray --gpus-per-worker 1 --workers 1`",
    "ray, two workers on one GPU": "`--local --engine ray --gpus-per-worker 0.5 --workers 2`",
    "vLLM, one process": "`--upstream URL --engine processes:1`, a vLLM on that GPU",
    "vLLM, two workers of ray": "`--upstream URL --engine ray --workers 2`, the same",
}
HEAD = """On one {gpu} (torch {torch}, Ray {ray}{vllm}), responses per second of `score` on a run in {parts} parts,
measured by `python -m benchmarks.ray_gpu` in the second half of the parts, once the model is loaded and compiled:"""
TAIL = """The scores of one Ray worker are {equal} those of the process, step by step. With two workers on one GPU, or
with vLLM, bf16 rounding differs, and the random weights of these verifiers amplify it; the last column is the
correlation with the scores of the process, for each size."""


def section(results: Mapping[str, Any]) -> str:
    """The table, with the text around it."""
    sizes = results["sizes"]
    by_size = {size["size"]: {way["way"]: way for way in size["ways"]} for size in sizes}
    counts = " | ".join(f"{size['size']}, {size['responses']:,} responses" for size in sizes)
    lines = [f"| `score RUN --verifier qwen-prm` … | {counts} | correlation |", f"|---|{'---:|' * len(sizes)}---:|"]
    for name, words in WAYS.items():
        found = [ways.get(name) for ways in by_size.values()]
        rates = " | ".join(f"{way['responses_per_s']:.1f}" if way else "" for way in found)
        likeness = ", ".join(f"{way['against_first']['correlation']:.4f}" for way in found if way)
        if likeness:
            lines.append(f"| {words} | {rates} | {likeness} |")
    ray = [ways["ray, one worker"]["against_first"]["largest"] for ways in by_size.values()]
    vllm = f", vLLM {results['vllm']}" if "vllm" in results else ""
    head = HEAD.format(**{**results, "vllm": vllm}, parts=sizes[0]["parts"])
    tail = TAIL.format(equal="bit for bit" if not any(ray) else f"within {max(ray):.3f} of")
    return "\n\n".join([head, "\n".join(lines), tail])
