"""`python -m benchmarks.gpu_scoring`: how fast `score --local` reads on one GPU, and how near to what it read before.

Writes docs/gpu_scoring.json; `python -m benchmarks.gpu_scoring --page` shows it in docs/benchmarks.md. Needs the
[prm] extra, a GPU of 40 GB and, for the fourth column of differences, 30 GB more. The verifiers have random weights.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu_page import RESULTS, write_page
from benchmarks.random_verifiers import SIZES, Size, make, responses
from steelyard.verifiers import find_verifier
from steelyard.verifiers.context_window import fit
from steelyard.verifiers.protocol import Array, TokenProtocol
from steelyard.verifiers.runners.length_batches import BUDGET, batches
from steelyard.verifiers.runners.local import Local
from steelyard.verifiers.scored_items import Item, Scores

QUESTIONS = 64  # of 32 samples
CHECKED = 48  # responses read in float32, one by one


def measured(name: str, size: Size, folder: Path) -> dict[str, Any]:
    """Everything about one size."""
    import torch

    protocol, _ = find_verifier(size.verifier)
    if not isinstance(protocol, TokenProtocol):
        raise TypeError(size.verifier)
    items = responses(QUESTIONS, seed=1)
    begun = time.perf_counter()
    local = Local(protocol, str(make(size, folder / name, "cuda")))
    print(f"{name}: made and loaded in {time.perf_counter() - begun:.0f} s, {local.found}", flush=True)
    trunk = local.reader.trunk.trunk
    peak = matmul_peak()

    trunk.set_attn_implementation("sdpa")
    with_mask(local, items[:64])
    slow, before = timed(lambda: with_mask(local, items[: len(items) // 4]))
    trunk.set_attn_implementation("steelyard-packed")

    scores(local, items[:256])
    plain, _ = timed(lambda: scores(local, items))
    local.reader.trunk.left = 0
    compiling, _ = timed(lambda: scores(local, items[:256]))
    torch.cuda.reset_peak_memory_stats()
    wall, after = timed(lambda: scores(local, items))
    again, _ = timed(lambda: scores(local, items))
    busy, profiled = busy_share(lambda: scores(local, items))

    read = tokens_read(local, items)
    found = {
        "size": name, "verifier": size.verifier, "responses": len(items), "batches": local.found["batches"],
        "tokens_one_by_one": one_by_one(local, items), "tokens_read": read,
        "responses_per_s": len(items) / min(wall, again), "responses_per_s_both": [len(items) / wall, len(items) / again],
        "responses_per_s_not_compiled": len(items) / plain,
        "responses_per_s_with_mask": len(items) // 4 / slow,
        "tokens_per_s": read / min(wall, again), "peak_tflops": peak / 1e12,
        "share_of_peak": read * size.products / min(wall, again) / peak,
        "gpu_busy": busy, "responses_per_s_profiled": len(items) / profiled,
        "memory_gib": torch.cuda.max_memory_allocated() / 2**30, "first_compiled_s": compiling,
        "compiled": local.reader.trunk.on, "goal": size.goal,
    }  # fmt: skip
    local.reader.trunk._undo()
    trunk.set_attn_implementation("sdpa")
    trunk.float()
    exact = alone(local, items[:CHECKED])
    found |= {
        "packed_against_mask": difference(after[: len(before)], before),
        "packed_against_float32": difference(after[:CHECKED], exact),
        "mask_against_float32": difference(before[:CHECKED], exact),
    }
    return found


def timed(task: Any) -> tuple[float, Any]:
    import torch

    torch.cuda.synchronize()
    begun = time.perf_counter()
    result = task()
    torch.cuda.synchronize()
    return time.perf_counter() - begun, result


def matmul_peak() -> float:
    """Operations per second of a large product in bf16."""
    import torch

    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(10):
        a @ b
    return 2 * 8192**3 * 40 / timed(lambda: [a @ b for _ in range(40)])[0]


def scores(local: Local, items: list[Item]) -> list[Array]:
    """The scores as `steelyard score --local` gets them, from text to numbers, in the order of the items."""

    async def every() -> list[Array]:
        found = {id(item): result async for item, result in local.score(iter(items))}
        done = [found[id(item)] for item in items]
        return [np.asarray(each.steps) for each in done if isinstance(each, Scores)]

    result = asyncio.run(every())
    if len(result) != len(items):
        raise RuntimeError("some responses have no score")
    return result


def with_mask(local: Local, items: list[Item]) -> list[Array]:
    """The scores as they were read before: every response whole, batches by length, an attention mask."""
    import torch

    rendered = [fit(local.protocol, item.question, item.steps, local.tokens, local.context).rendered for item in items]
    found: dict[int, Array] = {}
    for batch in batches([len(each.ids) for each in rendered], BUDGET):
        ids = torch.zeros((len(batch), len(rendered[batch[0]].ids)), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, i in enumerate(batch):
            ids[row, : len(rendered[i].ids)] = torch.tensor(rendered[i].ids)
            mask[row, : len(rendered[i].ids)] = 1
        rows = [row for row, i in enumerate(batch) for _ in rendered[i].positions]
        columns = [position for i in batch for position in rendered[i].positions]
        with torch.inference_mode():
            seen = local.reader.trunk.trunk(input_ids=ids.cuda(), attention_mask=mask.cuda(), use_cache=False)
            outputs = local.reader.head(seen.last_hidden_state[rows, columns].float()).double().cpu().numpy()
        parts = np.split(outputs, np.cumsum([len(rendered[i].positions) for i in batch])[:-1])
        found |= {i: local.protocol.read(part, range(len(part))) for i, part in zip(batch, parts, strict=True)}
    return [found[i] for i in range(len(items))]


def alone(local: Local, items: list[Item]) -> list[Array]:
    return [with_mask(local, [item])[0] for item in items]


def busy_share(task: Any) -> tuple[float, float]:
    """The share of a task's time in which the GPU runs a kernel, and the seconds it took while watched."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        wall, _ = timed(task)
    events = watched.profiler.kineto_results.events()
    spans = sorted((e.start_ns(), e.start_ns() + e.duration_ns()) for e in events if "CUDA" in str(e.device_type()))
    busy, end = 0, 0
    for start, stop in spans:
        busy += max(0, stop - max(start, end))
        end = max(end, stop)
    return busy / 1e9 / wall, wall


def one_by_one(local: Local, items: list[Item]) -> int:
    return sum(branch.end for branch in local._prepare(items).branches)


def tokens_read(local: Local, items: list[Item]) -> int:
    made = local._prepare(items).branches
    parts = [[made[i] for i in batch] for batch in local.reader.batches(made)]
    return sum(int(local.reader._inputs(part)[0]["input_ids"].numel()) for part in parts)


def difference(some: list[Array], others: list[Array]) -> dict[str, float]:
    a, b = np.concatenate(some[: len(others)]), np.concatenate(others)
    return {
        "correlation": float(np.corrcoef(a, b)[0, 1]),
        "largest": float(np.abs(a - b).max()),
        "mean": float(np.abs(a - b).mean()),
        "spread": float(b.std()),
        "steps": len(a),
    }


def main() -> int:
    import torch
    import transformers

    names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(SIZES)
    where = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "sizes": [],
    }
    for name in names:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            where["sizes"].append(measured(name, SIZES[name], Path(folder)))
        torch.cuda.empty_cache()
        RESULTS.write_text(json.dumps(where, indent=1) + "\n")
        print(json.dumps(where["sizes"][-1], indent=1), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(write_page() if "--page" in sys.argv else main())
