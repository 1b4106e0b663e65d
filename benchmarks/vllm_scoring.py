"""`python -m benchmarks.vllm_scoring`: vLLM beside `score --local` on one GPU, with the same weights and responses.

It needs what `python -m benchmarks.gpu_scoring` needs, and vLLM in the same environment; it writes docs/gpu_vllm.json.
vLLM is called in its process, with ids that are ready: no HTTP, no rendering and no tokenising are counted for it.

- as_served     the options of docs/vllm.md with --enable-prefix-caching: vLLM reads no cache for scores of tokens
- cache_forced  every token's output, and the cache is read although vLLM advises against it: right as long as no step
                ends within what two responses share
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu_scoring import difference, scores, timed
from benchmarks.random_verifiers import SIZES, Size, make, responses, token_protocol
from steelyard.sampling.verifiers.protocol import Array, Rendered
from steelyard.sampling.verifiers.runners.local import Local

RESULTS = Path(__file__).parent.parent / "docs" / "gpu_vllm.json"
VERIFIER, TAG, CONTEXT, WARM, RUNS = "qwen-prm", 151651, 4096, 64, 2
LOCAL, SERVED, FORCED = MODES = ("local", "as_served", "cache_forced")


def compared(name: str, folder: Path) -> dict[str, Any]:
    """One size: `--local` first, then vLLM in both ways, each in a process of its own."""
    row: dict[str, Any] = {"size": name}
    steps: dict[str, list[Array]] = {}
    for mode in MODES:
        subprocess.run([sys.executable, "-m", "benchmarks.vllm_scoring", mode, name, str(folder)], check=True)
        row[mode] = json.loads((folder / f"{mode}.json").read_text())
        steps[mode] = [np.asarray(each) for each in row[mode].pop("scores")]
        if mode != LOCAL:
            row[mode]["against_local"] = difference(steps[mode], steps[LOCAL])
    return row


def read_by_local(size: Size, folder: Path) -> dict[str, Any]:
    """Make the model and the responses, and read them as `score --local` does."""
    served = replace(size, verifier=VERIFIER)  # vLLM has no value head
    model = make(served, folder / "model", "cuda")
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"architectures": ["Qwen2ForProcessRewardModel"]}))
    items = responses(size.questions // 2, seed=1)
    local = Local(token_protocol(VERIFIER), str(model))
    rendered = [fit.rendered for _, fit in local._prepare(items).fitted]
    (folder / "rendered.json").write_text(json.dumps([[each.ids, each.positions] for each in rendered]))
    local.reader.trunk.left = 0
    scores(local, items[:WARM])
    runs = [timed(lambda: scores(local, items)) for _ in range(RUNS)]
    return {"compiled": local.reader.trunk.on, **_rates(len(items), [wall for wall, _ in runs])} | {
        "scores": [each.tolist() for each in runs[0][1]]
    }


def _rates(responses: int, walls: list[float]) -> dict[str, Any]:
    rates = [responses / wall for wall in walls]
    return {"responses": responses, "responses_per_s": max(rates), "runs": rates}


def read_by_vllm(mode: str, folder: Path) -> dict[str, Any]:
    """The same model and ids in vLLM."""
    vllm = _vllm()
    rendered = [Rendered(*each) for each in json.loads((folder / "rendered.json").read_text())]
    forced = mode == FORCED
    pooling = {"tok_pooling_type": "ALL"} if forced else {"tok_pooling_type": "STEP", "step_tag_id": TAG}
    pooler = vllm.config.PoolerConfig(**pooling)
    begun = time.perf_counter()
    llm = vllm.LLM(
        model=str(folder / "model"), runner="pooling", pooler_config=pooler, enable_prefix_caching=True,
        skip_tokenizer_init=True, max_model_len=CONTEXT, dtype="bfloat16", disable_log_stats=True,
    )  # fmt: skip
    started = time.perf_counter() - begun

    def read(some: list[Rendered]) -> list[Any]:
        skip = False if forced else None
        asked = [vllm.PoolingParams(use_activation=False, skip_reading_prefix_cache=skip) for _ in some]
        prompts = [{"prompt_token_ids": each.ids} for each in some]
        done = llm.encode(prompts, asked, pooling_task="token_classify", use_tqdm=False)
        return [each.outputs.data.float().numpy() for each in done]

    walls: list[float] = []
    outputs: list[Any] = []
    read(rendered[-WARM:])  # kernels are chosen and compiled at the first call
    for _ in range(RUNS):
        llm.reset_prefix_cache()
        wall, outputs = timed(lambda: read(rendered))
        walls.append(wall)
    steps = [_steps(*each, forced).tolist() for each in zip(outputs, rendered, strict=True)]
    return {"start_s": started, **_rates(len(rendered), walls), "rows": sum(map(len, outputs)), "scores": steps}


def _vllm() -> Any:
    """vLLM, which the environment of the checks does not have."""
    import_module("vllm.config")
    return import_module("vllm")


def _steps(output: Any, rendered: Rendered, forced: bool) -> Array:
    """The scores of the steps; where the cache was read there are rows for the rest of the tokens alone."""
    at = np.asarray(rendered.positions) - (len(rendered.ids) - len(output)) if forced else range(len(output))
    if forced and np.min(at) < 0:
        raise RuntimeError("a step ends within what the cache held")
    return token_protocol(VERIFIER).read(np.asarray(output, np.float64), list(at))


def main() -> int:
    if sys.argv[1:] and sys.argv[1] in MODES:
        mode, size, there = sys.argv[1], SIZES[sys.argv[2]], Path(sys.argv[3])
        found = read_by_local(size, there) if mode == LOCAL else read_by_vllm(mode, there)
        (there / f"{mode}.json").write_text(json.dumps(found))
        print({key: value for key, value in found.items() if key != "scores"}, flush=True)
        return 0
    import torch

    where = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "vllm": _vllm().__version__}
    rows: list[dict[str, Any]] = []
    memory = Path("/dev/shm")
    for name in sys.argv[1:] or SIZES:
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            rows.append(compared(name, Path(folder)))
        RESULTS.write_text(json.dumps({**where, "sizes": rows}, indent=1) + "\n")
        print(json.dumps(rows[-1], indent=1), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
