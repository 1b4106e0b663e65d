"""`python -m docs.scale`: the measured cost of a million responses, and the estimate for more on many machines.

It prints the tables and puts them into docs/scale-costs.md. Every figure is taken from docs/benchmarks.md,
docs/gpu_scoring.json, docs/ray_ratios.json and docs/ray_gpu.json, where the commands that measure it have put it.
`--responses`, `--machines`, `--cores` and `--gpus` are the assumptions; with other ones the tables are printed only.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ray_gpu_section
from benchmarks.page_sections import with_section
from benchmarks.ray_ratios import Ratio, stored, stored_many
from steelyard.cli.progress_display import duration

HERE = Path(__file__).parent
PAGE, BENCHMARKS, GPU = HERE / "scale-costs.md", HERE / "benchmarks.md", HERE / "gpu_scoring.json"
RAY_GPU = HERE / "ray_gpu.json"
TITLE = "Measured costs"
PART = 20 * 60  # seconds of work that a part should be
MILLION = 1_000_000
NUMBER = r"([\d,.]+)"


@dataclass(frozen=True)
class Cost:
    """One step of the work: seconds of one CPU core, or of one GPU, per million responses."""

    step: str
    seconds: float
    gpu: bool
    source: str

    @property
    def per_second(self) -> float:
        return MILLION / self.seconds


@dataclass(frozen=True)
class Machines:
    """What is assumed of the machines."""

    responses: float = 1e9
    counts: Sequence[int] = (1, 8, 64)
    cores: int = 64
    gpus: int = 8


def costs() -> list[Cost]:
    """What was measured."""
    page = BENCHMARKS.read_text()
    kept = _measured(page, rf"generate against the bare upstream, .*?CPU a sample {NUMBER} ms")
    read = _measured(page, rf"reading and grouping [\d,]+ responses: for each second of CPU \| {NUMBER}")
    voted = _measured(page, rf"10 M rows of Parquet to verdicts against DuckDB, sorted: CPU \| [\d.]+ x \({NUMBER} s")
    found = [
        Cost("sample: request, check and store (without the LLM itself)", kept * 1e3, False, "benchmarks.md"),
        Cost("parse: read the answer and group it", MILLION / read, False, "benchmarks.md"),
    ]
    gpu = json.loads(GPU.read_text())
    for size in gpu["sizes"]:
        step = f"score with a verifier of {size['size']} on one {gpu['gpu']}"
        found.append(Cost(step, MILLION / size["responses_per_s"], True, "gpu_scoring.json"))
    return [*found, Cost("vote: from Parquet to verdicts", voted / 10, False, "benchmarks.md")]


def _measured(page: str, pattern: str) -> float:
    found = re.search(pattern, page)
    if found is None:
        raise SystemExit(f"docs/benchmarks.md has no row {pattern!r}: run 'make bench'")
    return float(found[1].replace(",", ""))


def tables(machines: Machines) -> str:
    """The section of the page."""
    every = costs()
    lines = ["| step | per million responses | responses per second | measured in |", "|---|---:|---:|---|"]
    for cost in every:
        unit = "GPU" if cost.gpu else "CPU core"
        lines.append(
            f"| {cost.step} | {_seconds(cost.seconds)} of one {unit} | {_rate(cost.per_second)} | "
            f"[{cost.source}]({cost.source}) |"
        )
    heads = " | ".join(f"{count} machine{'s' * (count > 1)}" for count in machines.counts)
    lines += ["", _assumed(machines), "", f"| step | {heads} |", f"|---|{'---:|' * len(machines.counts)}"]
    for cost in every:
        units = machines.gpus if cost.gpu else machines.cores
        total = cost.seconds * machines.responses / MILLION
        times = " | ".join(_seconds(total / (count * units)) for count in machines.counts)
        lines.append(f"| {cost.step} | {times} |")
    sizes = ", ".join(f"{cost.per_second * PART:,.0f} ({cost.step})" for cost in every if cost.gpu)
    lines += ["", f"Responses per worker in {duration(PART)}, a good size for a part: {sizes}."]
    return "\n".join(lines)


def _assumed(machines: Machines) -> str:
    return (
        f"From these, {machines.responses:,.0f} responses on machines with {machines.cores} cores and "
        f"{machines.gpus} GPUs each. This assumes cores and GPUs as fast as those measured, work that divides without "
        "loss, storage that keeps up, and responses as long as those of the benchmark. The LLM's own time is not "
        "included; it is usually the largest part."
    )


def beside_processes(found: Sequence[Ratio]) -> str:
    """The table of what Ray takes beside plain processes, with the text before it; nothing if it was not measured."""
    if not found:
        return ""
    lines = [
        "Ray compared with two plain processes, two warm workers each on the same two cores (medians):", "",
        "| work | times as long | with Ray | with processes | memory per worker | of the command | measured by |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]  # fmt: skip
    for each in found:
        times = f"{each.ray:.1f} s | {each.processes:.1f} s"
        memory = " | ".join(f"{mb:.0f} MB" if mb else "" for mb in (each.worker_mb, each.command_mb))
        lines.append(f"| {each.what} | {each.value:.2f} | {times} | {memory} | `{each.command}` |")
    many = stored_many()
    if many:
        lines += [
            "",
            f"A command with {many.parts:,} parts of one question each takes {many.command_mb:.0f} MB and "
            f"{_seconds(many.seconds)} (`{many.command}`).",
        ]
    return "\n".join(lines)


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else duration(seconds)


def _rate(rate: float) -> str:
    return f"{rate:,.0f}"


def page_with(text: str) -> str:
    """The page with the tables in it."""
    made = ["Made by `python -m docs.scale` from measured figures.", text, beside_processes(stored())]
    made.append(ray_gpu_section.section(json.loads(RAY_GPU.read_text())))
    return with_section(PAGE.read_text(), TITLE, "\n\n".join(filter(None, made)))


def main() -> None:
    """Print the tables, and write those of the usual assumptions to the page."""
    usual = Machines()
    parser = argparse.ArgumentParser(prog="python -m docs.scale", description=__doc__)
    parser.add_argument("--responses", type=float, default=usual.responses)
    parser.add_argument("--machines", type=lambda text: tuple(map(int, text.split(","))), default=usual.counts)
    parser.add_argument("--cores", type=int, default=usual.cores)
    parser.add_argument("--gpus", type=int, default=usual.gpus)
    given = parser.parse_args()
    wanted = Machines(given.responses, given.machines, given.cores, given.gpus)
    print(tables(wanted))
    if wanted == usual:
        PAGE.write_text(page_with(tables(wanted)))


if __name__ == "__main__":
    main()
