"""`python -m benchmarks.gpu_page`: the figures that were measured on a GPU, in docs/benchmarks.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import verdicts_section, vllm_section
from benchmarks.page_sections import PAGE, with_section

RESULTS = Path(__file__).parent.parent / "docs" / "gpu_scoring.json"
TITLE = "Local scoring on a GPU"
BUSY = 0.95  # wanted share of the time
HEAD = """Made by `python -m benchmarks.gpu_page` from [gpu_scoring.json](gpu_scoring.json), which
`python -m benchmarks.gpu_scoring` measured on one {gpu} ({installed}).
Run `make test-models` first and install `steelyard[hopper]`. The verifiers have the published sizes and random weights.
There are 32 samples per question and {tokens:.0f} tokens per response, including its question. Times are from text to
scores.
"""
TAIL = """
"With a mask" is how `--local` worked before: every response in full, in batches by length. Its times exclude text
preparation. Layers are compiled after a million tokens, which takes {compiling} with the
kernels of `steelyard[hopper]`. At the peak of a matrix product, and with nothing else to do, the products alone would
allow {limits} responses/s.

The limit is energy, as both sizes draw nearly all the power that the GPU may draw. Products with less energy per
operation would need a smaller number format, which changes scores. The last column is what the products would allow
if nothing else took energy:

| size | power | energy per response | of which products | responses/s by the products' energy |
|---|---:|---:|---:|---:|
{energy}

Two bf16 runs differ by rounding noise, which random weights amplify. Packed scores are no further from float32 than
masked ones:

| size | scores of steps | correlation | mean difference | largest difference |
|---|---|---:|---:|---:|
{differences}
"""
PAIRS = {
    "packed_against_mask": "packed, against with a mask",
    "packed_against_float32": "packed, against float32",
    "mask_against_float32": "with a mask, against float32",
}


def section(results: Mapping[str, Any]) -> str:
    """The text of the section."""
    sizes = results["sizes"]
    tokens = sum(size["tokens_one_by_one"] for size in sizes) / sum(size["responses"] for size in sizes)
    lines = [line for size in sizes for line in _lines(size)]
    table = ["| what | measured | goal | met |", "|---|---|---|---|", *lines]
    compiling = " and ".join(f"{size['compiling_s']:.0f} s ({size['size']})" for size in sizes)
    limits = " and ".join(f"{size['responses_per_s'] / size['share_of_peak']:.0f} ({size['size']})" for size in sizes)
    differences = [
        f"| {size['size']} | {words} | {found['correlation']:.4f} | {found['mean']:.4f} | {found['largest']:.3f} |"
        for size in sizes
        for found, words in ((size[name], words) for name, words in PAIRS.items())
    ]
    energy = "\n".join(_energy(size) for size in sizes)
    installed = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    head = HEAD.format(gpu=results["gpu"], installed=installed, tokens=tokens)
    return (
        head
        + "\n"
        + "\n".join(table)
        + "\n"
        + TAIL.format(differences="\n".join(differences), compiling=compiling, limits=limits, energy=energy)
    )


def _lines(size: Mapping[str, Any]) -> list[str]:
    rate, busy = size["responses_per_s"], size["gpu_busy"]
    saved = 1 - size["tokens_read"] / size["tokens_one_by_one"]
    rows = [
        ("responses/s", f"{rate:.1f}", f"at least {size['goal']:g}", rate >= size["goal"]),
        ("responses/s with a mask", f"{size['responses_per_s_with_mask']:.1f}", "no goal", True),
        ("responses/s without `steelyard[hopper]`", f"{size['responses_per_s_not_fused']:.1f}", "no goal", True),
        ("responses/s before layers are compiled", f"{size['responses_per_s_not_compiled']:.1f}", "no goal", True),
        ("share of the time in which the GPU is busy", f"{busy:.1%}", f"at least {BUSY:.0%}", busy >= BUSY),
        (
            f"share of the peak of {size['peak_tflops']:.0f} TFLOP/s of a large matrix product right after it",
            f"{size['share_of_peak']:.1%} ({size['tokens_per_s']:,.0f} tokens/s)",
            "no goal",
            True,
        ),
        ("tokens that need not be read, as the question is shared", f"{saved:.1%}", "no goal", True),
        ("memory of the GPU", f"{size['memory_gib']:.1f} GiB", "no goal", True),
    ]
    about = size["size"]
    return [f"| {about}: {what} | {got} | {goal} | {'yes' if met else '**no**'} |" for what, got, goal, met in rows]


def _energy(size: Mapping[str, Any]) -> str:
    products, limit = size["product_joules_per_response"], size["watts_at_most"]
    cells = (
        size["size"], f"{size['watts']:.0f} of {limit:.0f} W", f"{size['joules_per_response']:.2f} J",
        f"{products:.2f} J", f"{limit / products:.0f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def with_sections(page: str) -> str:
    """The page with the stored figures of every section that needs a GPU."""
    page = with_section(page, TITLE, section(json.loads(RESULTS.read_text())))
    for other in (vllm_section, verdicts_section):
        page = with_section(page, other.TITLE, other.section(json.loads(other.RESULTS.read_text())))
    return page


if __name__ == "__main__":
    PAGE.write_text(with_sections(PAGE.read_text()))
