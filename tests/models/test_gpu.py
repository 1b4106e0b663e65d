"""The same models on a GPU, where there is one: bf16 is close to float32, and float32 is the CPU's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import Array, TokenProtocol
from steelyard.sampling.verifiers.runners.local import Local, _trunk
from steelyard.sampling.verifiers.runners.model_reader import ModelReader
from steelyard.sampling.verifiers.runners.packing import BUDGET
from steelyard.sampling.verifiers.scored_items import Item
from tests.models import tiny
from tests.models.items import samples, scored

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch's compiler imports what torch deprecates
]
NAMES = ("qwen-prm", "skywork-1.5b", "rlhflow-deepseek", "math-shepherd", "versaprm")


@pytest.mark.parametrize("name", NAMES)
def test_scores_on_a_gpu_are_those_of_the_cpu(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny.make(name, tmp_path / name)
    protocol, _ = find_verifier(name)
    assert isinstance(protocol, TokenProtocol)
    items = samples(10, 10, seed=0)
    half = Local(protocol, str(folder))
    assert half.detected["dtype"] == "bfloat16"
    full = Local(protocol, str(folder))
    trunk = _trunk(str(folder), torch.float32).to("cuda").eval()
    full.reader = ModelReader(trunk, half.reader.head, half.context, BUDGET)
    a, b = (steps(model, items) for model in (half, full))
    half.reader.trunk.left = 0
    compiled = steps(half, items)
    assert half.reader.trunk.on
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    c = steps(Local(protocol, str(folder)), items)
    assert b == pytest.approx(c, abs=1e-3)
    for other in (a, compiled):
        assert np.corrcoef(other, c)[0, 1] > 0.99
        assert np.abs(other - c).mean() < 0.03


def steps(model: Local, items: list[Item]) -> Array:
    return np.concatenate([scores.steps for scores in scored(model, items)])
