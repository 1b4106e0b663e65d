"""`python -m benchmarks.gpu_scoring`: how fast `score --local` reads on one GPU, and how near to what it read before.

It needs the [prm] and [hopper] extras, the vocabularies of `make test-models` and a Hopper GPU, and writes
docs/gpu_scoring.json. `python -m benchmarks.gpu_page` shows that in docs/benchmarks.md. The verifiers have random
weights.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.gpu_page import RESULTS
from benchmarks.masked_batches import with_mask
from benchmarks.random_verifiers import SIZES, Size, make, responses, token_protocol
from steelyard.sampling.verifiers.protocol import Array
from steelyard.sampling.verifiers.runners.fused_layers import FUSED
from steelyard.sampling.verifiers.runners.local import Local
from steelyard.sampling.verifiers.scored_items import Item, Scores

PART = 512  # responses read as before
EXACT = 48  # responses read in float32, one by one
Result = TypeVar("Result")


def measured(name: str, size: Size, folder: Path) -> dict[str, Any]:
    """Everything about one size."""
    import torch

    items = responses(size.questions, seed=1)
    local = Local(token_protocol(size.verifier), str(make(size, folder / name, "cuda")))
    layers = local.reader.trunk
    packed = layers.trunk.config._attn_implementation
    window = local._prepare(items)
    rendered = [fit.rendered for _, fit in window.fitted]
    parts = [[window.branches[i] for i in batch] for batch in local.reader.batches(window.branches)]
    read = sum(int(local.reader._inputs(part)[0]["input_ids"].numel()) for part in parts)

    layers.trunk.set_attn_implementation("sdpa")
    before = with_mask(local, rendered[:PART])  # and once more, warm
    slow, _ = timed(lambda: with_mask(local, rendered[:PART]))
    layers.trunk.set_attn_implementation(packed)

    layers.left = float("inf")
    scores(local, items[:64])
    plain, _ = timed(lambda: scores(local, items[: len(items) // 2]))
    layers.left, layers.fuse = 0, False
    scores(local, items[:64])
    unfused, _ = timed(lambda: scores(local, items[: len(items) // 2]))
    layers._undo()
    layers.left, layers.fuse = 0, True
    compiling, _ = timed(lambda: scores(local, items[:64]))
    torch.cuda.reset_peak_memory_stats()
    begun = joules()
    (wall, after), (again, _) = timed(lambda: scores(local, items)), timed(lambda: scores(local, items))
    energy = (joules() - begun) / 2
    memory = torch.cuda.max_memory_allocated() / 2**30
    busy = busy_share(lambda: scores(local, items))
    peak, per_joule = matmul_peak()
    if not layers.on or layers.trunk.config._attn_implementation != FUSED:
        raise RuntimeError("the layers could not be compiled, or not with the kernels of flash-attn-4")

    layers._undo()
    layers.trunk.set_attn_implementation("sdpa")
    layers.trunk.float()
    exact = with_mask(local, rendered[:EXACT], budget=1)
    best = min(wall, again)
    return {
        "size": name, "verifier": size.verifier, "responses": len(items), "goal": size.goal,
        "tokens_one_by_one": sum(len(each.ids) for each in rendered), "tokens_read": read,
        "responses_per_s": len(items) / best, "runs": [len(items) / wall, len(items) / again],
        "responses_per_s_not_compiled": len(items) // 2 / plain, "compiling_s": compiling,
        "responses_per_s_not_fused": len(items) // 2 / unfused,
        "responses_per_s_with_mask": PART / slow, "tokens_per_s": read / best,
        "peak_tflops": peak / 1e12, "share_of_peak": read * size.products / best / peak,
        "joules_per_response": energy / len(items),
        "watts": 2 * energy / (wall + again), "watts_at_most": power_limit(),
        "product_joules_per_response": read * size.products / per_joule / len(items),
        "gpu_busy": busy, "memory_gib": memory,
        "packed_against_mask": difference(after[:PART], before),
        "packed_against_float32": difference(after[:EXACT], exact),
        "mask_against_float32": difference(before[:EXACT], exact),
    }  # fmt: skip


def timed(task: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds of a task until the GPU is done with it."""
    import torch

    torch.cuda.synchronize()
    begun = time.perf_counter()
    result = task()
    torch.cuda.synchronize()
    return time.perf_counter() - begun, result


def scores(local: Local, items: list[Item]) -> list[Array]:
    """The scores as `steelyard score --local` gets them, from text to numbers, in the order of the items."""

    async def every() -> dict[int, Scores | str]:
        return {id(item): result async for item, result in local.score(iter(items))}

    found = asyncio.run(every())
    done = [found[id(item)] for item in items]
    return [np.asarray(each.steps) for each in done if isinstance(each, Scores)]


def matmul_peak() -> tuple[float, float]:
    """Operations of a large product in bf16 per second, and per joule, on a warm GPU."""
    import torch

    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    count = 2000  # some 3 s, as the energy is only known every 0.1 s

    def products() -> None:
        for _ in range(count):
            torch.mm(a, b)

    timed(products)
    begun = joules()
    seconds, _ = timed(products)
    operations = 2.0 * 8192**3 * count
    return operations / seconds, operations / (joules() - begun)


def joules() -> float:
    """The energy that the GPU has used since its driver was loaded."""
    found = ctypes.c_ulonglong()
    _ask_driver("nvmlDeviceGetTotalEnergyConsumption", found)
    return found.value / 1000


def power_limit() -> float:
    """The watts above which the GPU lowers its clock."""
    found = ctypes.c_uint()
    _ask_driver("nvmlDeviceGetEnforcedPowerLimit", found)
    return found.value / 1000


def _ask_driver(name: str, found: Any) -> None:
    driver, device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
    codes = driver.nvmlInit_v2(), driver.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
    if any((*codes, getattr(driver, name)(device, ctypes.byref(found)))):
        raise RuntimeError(f"the driver does not answer {name}")


def busy_share(task: Callable[[], object]) -> float:
    """The share of a task's time in which the GPU runs at least one kernel, as its profiler sees it."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        wall, _ = timed(task)
    events = watched.profiler.kineto_results.events()
    spans = sorted((e.start_ns(), e.start_ns() + e.duration_ns()) for e in events if "CUDA" in str(e.device_type()))
    busy = end = 0
    for start, stop in spans:
        busy += max(0, stop - max(start, end))
        end = max(end, stop)
    return busy / 1e9 / wall


def difference(some: list[Array], others: list[Array]) -> dict[str, float]:
    """How far scores of steps are from others."""
    a, b = np.concatenate(some), np.concatenate(others)
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

    sizes: list[dict[str, Any]] = []
    kernels = ("flash-attn-4", "quack-kernels", "nvidia-cutlass-dsl")
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    versions |= {name: version(name) for name in kernels}
    where = {"gpu": torch.cuda.get_device_name(), "versions": versions}
    memory = Path("/dev/shm")
    for name in sys.argv[1:] or SIZES:
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            sizes.append(measured(name, SIZES[name], Path(folder)))
        torch.cuda.empty_cache()
        RESULTS.write_text(json.dumps({**where, "sizes": sizes}, indent=1) + "\n")
        print(json.dumps(sizes[-1], indent=1), flush=True)
    return 0 if all(size["responses_per_s"] >= size["goal"] for size in sizes) else 1


if __name__ == "__main__":
    sys.exit(main())
