"""The body of one request, and how many samples it may ask for."""

from __future__ import annotations

from typing import Any

from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.llm.bounded_json import MOST_BYTES

TOKEN_BYTES = 400  # of one token with its log-probability in a reply, generously


def samples_per_request(abilities: Abilities, sampling: Sampling) -> int:
    """How many samples one request may ask for so that its reply stays within what we read.

    >>> samples_per_request(Abilities(most=64, logprobs=True), Sampling("m", max_tokens=2048))
    40
    """
    size = sampling.max_tokens * (TOKEN_BYTES if abilities.logprobs else TOKEN_BYTES // 16)
    return max(1, min(abilities.most, MOST_BYTES // size))


def body_of(
    sampling: Sampling, abilities: Abilities, prompt: str, *, n: int, first: int, max_tokens: int | None = None
) -> dict[str, Any]:
    """The body that asks for samples first .. first + n - 1 of a prompt.

    One request has one seed, that of its first sample. vLLM and llama.cpp give choice j the seed + j, so there every
    sample has its own; other servers derive the seeds of the other choices as they like.
    """
    body: dict[str, Any] = {
        "model": sampling.model,
        "messages": [{"role": "user", "content": prompt}],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        abilities.limit_name: sampling.max_tokens if max_tokens is None else max_tokens,
    }
    if n > 1:
        body["n"] = n
    if abilities.seed:
        body["seed"] = sampling.seed + first
    if abilities.logprobs:
        body |= {"logprobs": True, "top_logprobs": 1}  # without top_logprobs llama.cpp sends twenty a token
    return body
