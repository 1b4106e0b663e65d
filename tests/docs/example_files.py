"""Creates the files that the examples in --help and in the docs read."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl

import steelyard as sy
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for
from tests.tables.layouts.golden import GOLDEN
from tests.upstreams import ROOT

LABELLED = sy.simulate(100, 16, seed=0).with_columns(
    tokens=pl.lit(300),
    prm=pl.concat_list(pl.col("score").sqrt(), "score"),
    llm=pl.when(pl.int_range(pl.len()).over("question") % 2 == 0).then(pl.lit("gpt")).otherwise(pl.lit("llama")),
).drop("score")  # fmt: skip


def golden(name: str, *files: str) -> Callable[[Path], None]:
    """Copy files of a tool to `name`, or into it where it is a folder."""

    def make(folder: Path) -> None:
        for file in files:
            for source in GOLDEN.glob(file):
                target = (
                    folder / name / source.name.replace("_sums_", "_gsm8k_") if name.endswith("/") else folder / name
                )
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    return make


def labelled(folder: Path, name: str = "labelled.parquet") -> None:
    LABELLED.write_parquet(folder / name)


def responses(folder: Path) -> None:
    LABELLED.drop("correct").write_parquet(folder / "responses.parquet")


def response_parts(folder: Path) -> None:
    (folder / "responses").mkdir()
    for part in range(2):
        own = pl.col("question").str.slice(1).cast(pl.Int64) % 2 == part
        LABELLED.filter(own).write_parquet(folder / "responses" / f"{part}.parquet")


def choices(folder: Path) -> None:
    texts = [f"The answer is ({'AB'[i % 3 == 0]})." for i in range(12)]
    rows = [{"question": f"q{i // 4}", "response": text} for i, text in enumerate(texts)]
    (folder / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def graded(folder: Path, name: str = "graded.jsonl", *, labels: bool = True) -> None:
    """Sentences of four LLMs, of which the first two are mostly right, each graded."""
    rows = []
    for q in range(60):
        for i, llm in enumerate(("gpt", "llama", "phi", "qwen")):
            right = (q * (i + 2)) % 7 > 2 * (i > 1) + i
            place = f"town {q}" if right else f"village {(q + i) % 5}"
            text = f"{('The capital is', 'It is', 'I would say', 'That is')[i]} {place}."
            rows.append({"question": f"q{q}", "prompt": "What is the capital?", "llm": llm, "response": text})
            rows[-1] |= {"grade": "C" if right else "I"} if labels else {}
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def bundled(folder: Path, name: str) -> None:
    (folder / "examples").mkdir(exist_ok=True)
    shutil.copy(ROOT / "examples" / name, folder / "examples")


def plan(folder: Path, method: str = "logit", name: str = "plan.json") -> None:
    source = sy.read_labelled(LABELLED.drop("llm"), score="prm:last")
    sy.method_class(method)().fit(source).save(folder / name)


def cascade(folder: Path) -> None:
    labelled(folder)
    prices = ("--source", "llm", "--price", "gpt=10,llama=0.1", "--budget", "65%")
    assert steelyard("plan-budget", folder / "labelled.parquet", *prices, "-o", folder / "plan.json").code == 0


FILES: dict[str, Callable[[Path], object]] = {
    "labelled.parquet": labelled,
    "other.parquet": lambda folder: labelled(folder, "other.parquet"),
    "responses.parquet": responses,
    "responses/*.parquet": response_parts,
    "responses.jsonl": choices,
    "questions.jsonl": lambda folder: ask_for(folder, 40),
    "examples/questions.jsonl": lambda folder: bundled(folder, "questions.jsonl"),
    "examples/graded.jsonl": lambda folder: bundled(folder, "graded.jsonl"),
    "plan.json": plan,
    "graded.jsonl": graded,
    "criteria.txt": lambda folder: (folder / "criteria.txt").write_text("It is correct."),
    "new.jsonl": lambda folder: graded(folder, "new.jsonl", labels=False),
    "old.json": lambda folder: plan(folder, "majority", "old.json"),
    "new.json": lambda folder: plan(folder, "logit", "new.json"),
    "samples_gsm8k_*.jsonl": golden("./", "lm_eval/samples_sums_2*.jsonl"),
    "out/*/samples_gsm8k_*.jsonl": golden("out/model/", "lm_eval/samples_sums_2*.jsonl"),
    "logs/2026-11-16T04-00-00_task.eval": golden("logs/2026-11-16T04-00-00_task.eval", "inspect_log/sums.eval"),
    "out/details/**/details_*.parquet": golden("out/details/model/", "lighteval/details_sums_2*.parquet"),
    "input.jsonl": golden("input.jsonl", "batch/vllm_input.jsonl"),
    "output.jsonl": golden("output.jsonl", "batch/vllm_output.jsonl"),
    "requests.json": golden("requests.json", "anthropic_batch/requests.json"),
    "results.jsonl": golden("results.jsonl", "anthropic_batch/results.jsonl"),
    "completions.jsonl": golden("completions.jsonl", "chat_completions/requests.jsonl"),
    "outputs/run/traces.jsonl": golden("outputs/run/traces.jsonl", "verifiers_traces/traces.jsonl"),
    "result_dirs/gsm/mock-70b.json": golden("result_dirs/gsm/", "zeroeval/*.json"),
}  # fmt: skip


def make_files(folder: Path, command: str, **special: Callable[[Path], object]) -> None:
    """Make the files that a command reads and that are not there; `special` has other ways, by the name to its dot."""
    for name, make in FILES.items():
        reads = re.search(rf"(?<![\w./-])(?<!-o ){re.escape(name)}(?![\w/])", command)
        if reads and not (folder / name).exists():
            special.get(name.partition(".")[0], make)(folder)
