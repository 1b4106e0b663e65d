"""The figures of docs/gpu_vllm.json in docs/benchmarks.md; `python -m benchmarks.gpu_page` writes them there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "docs" / "gpu_vllm.json"
TITLE = "Local scoring and vLLM on one GPU"
WAYS = {
    "local": "`score --local`, everything from text to scores",
    "as_served": "vLLM as [vllm.md](vllm.md) has it served, with `--enable-prefix-caching`",
    "cache_forced": "vLLM made to read its cache of prefixes, which it does not do by itself",
}
HEAD = """From [gpu_vllm.json](gpu_vllm.json), which `python -m benchmarks.vllm_scoring` measured on one {gpu}
(torch {torch}, vLLM {vllm} with FlashAttention 3): the responses above with the head of `qwen-prm` in both sizes, half
as many of them. The same weights and the same ids are read in each way. vLLM is called in its own process with ids that
are ready, so neither HTTP nor the laying out of text is counted for it, and its start of {start:.0f} s is not either.
"""
TAIL = """
vLLM does not use its cache of prefixes for scores of tokens. A token that is read from the cache has no output, so
requests of the task `token_classify` skip the cache unless they say otherwise, and vLLM {vllm} warns that step pooling
does not support it. The last way asks for the outputs of all tokens and says `skip_reading_prefix_cache=False`. It is
correct only where no step ends within what two responses share, and `/pooling` offers no such setting.
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
