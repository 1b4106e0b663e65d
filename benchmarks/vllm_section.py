"""The figures of docs/gpu_vllm.json in docs/benchmarks.md; `python -m benchmarks.gpu_page` writes them there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "docs" / "gpu_vllm.json"
TITLE = "Local scoring and vLLM on one GPU"
WAYS = {
    "local": "`score --local`, everything from text to scores",
    "as_served": "vLLM served as in [vllm.md](vllm.md), with `--enable-prefix-caching`",
    "cache_forced": "vLLM with reads from its prefix cache forced, which is not its default",
}
HEAD = """From [gpu_vllm.json](gpu_vllm.json), which `python -m benchmarks.vllm_scoring` measured on one {gpu}
(torch {torch}, vLLM {vllm} with FlashAttention 3): the responses above with the head of `qwen-prm` in both sizes, half
as many of them. All rows use the same weights and token ids. vLLM is called in its own process with token ids, so its
times include neither HTTP, nor text preparation, nor its start-up of {start:.0f} s.
"""
TAIL = """
vLLM does not use its prefix cache for token scores. A token read from the cache has no output, so requests of the task
`token_classify` skip the cache by default, and vLLM {vllm} warns that step pooling does not support it. The last row
requests the outputs of all tokens with `skip_reading_prefix_cache=False`. This is correct only if no step ends within
a shared prefix of two responses, and `/pooling` has no such setting.
"""


def section(results: Mapping[str, Any]) -> str:
    """The text of the section."""
    sizes = results["sizes"]
    heads = ["| size | read by | responses/s | against `--local` | correlation with its scores | mean difference |"]
    rows = [_line(size, way, words) for size in sizes for way, words in WAYS.items()]
    start = max(size["as_served"]["start_s"] for size in sizes)
    table = "\n".join([*heads, "|---|---|---:|---:|---:|---:|", *rows])
    return f"{HEAD.format(**results, start=start)}\n{table}\n{TAIL.format(**results)}"


def _line(size: Mapping[str, Any], way: str, words: str) -> str:
    rate, apart = size[way]["responses_per_s"], size[way].get("against_local")
    noise = f"{apart['correlation']:.4f} | {apart['mean']:.4f}" if apart else "|"
    return f"| {size['size']} | {words} | {rate:.1f} | {rate / size['local']['responses_per_s']:.2f} | {noise} |"
