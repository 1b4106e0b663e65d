"""A real vLLM server on the CPU, tiny random models, and our client: `make test-vllm` (VLLM_PYTHON names its Python).

What the server says is compared with what the same model says in this process.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.llm.address import Address
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.runners.local import Local
from steelyard.sampling.verifiers.runners.vllm import Served
from steelyard.sampling.verifiers.scored_items import Scores
from steelyard.sampling.verifiers.tokens import Tokens
from tests.models import tiny
from tests.models.items import drawn, every, scored
from tests.models.vllm_server import Server


def compare(name: str, folder: Path, flags: str) -> dict[str, object]:
    protocol, _ = find_verifier(name)
    assert isinstance(protocol, TokenProtocol)
    items = drawn(24, seed=1)
    here = scored(Local(protocol, str(folder), context=1024), items)

    async def connected(address: Address) -> tuple[list[Scores], dict[str, object]]:
        served = await Served.connect(protocol, Tokens.load(folder), address)
        try:
            return await every(served, items), served.detected
        finally:
            await served.close()

    with Server(folder, flags) as address:
        there, what = asyncio.run(connected(address))
    far = 0.0
    for one, other in zip(here, there, strict=True):
        assert (len(one.steps), one.truncated) == (len(other.steps), other.truncated)
        far = max(far, *(abs(a - b) for a, b in zip(one.steps, other.steps, strict=True)))
    shown = {key: value for key, value in what.items() if key != "served"}
    print(f"{name}: {shown}, {sum(len(one.steps) for one in here)} steps, largest difference {far:.1e}")
    assert far < 1e-4
    return what


@pytest.mark.parametrize("name", ["qwen-prm", "rlhflow-deepseek", "math-shepherd", "versaprm"])
def test_a_model_served_by_vllm_says_what_it_says_here(name: str, tmp_path: Path) -> None:
    protocol, _ = find_verifier(name)
    assert isinstance(protocol, TokenProtocol)
    what = compare(name, tiny.make(name, tmp_path / "model"), protocol.served)
    assert what["row"] == ("tag" if name == "qwen-prm" else "token")


def test_a_server_with_another_step_tag_is_refused_at_the_start(tmp_path: Path) -> None:
    folder = tiny.make("qwen-prm", tmp_path / "model")
    protocol, _ = find_verifier("qwen-prm")
    assert isinstance(protocol, TokenProtocol)
    flags = f"""{protocol.served} --pooler-config '{{"step_tag_id": 7}}'"""
    with Server(folder, flags) as address, pytest.raises(VerifierError, match=re.escape("expected 2 for each of 2")):
        asyncio.run(Served.connect(protocol, Tokens.load(folder), address))
