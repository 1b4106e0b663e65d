"""Batches through a model: packed or not, halved where memory ends, compiled where that pays."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import Gemma2Config, Gemma2Model, MistralConfig, MistralModel

from steelyard.foundation.errors import SteelyardWarning
from steelyard.sampling.verifiers.protocol import Rendered
from steelyard.sampling.verifiers.runners.local import Local, gpu_budget
from steelyard.sampling.verifiers.runners.model_reader import ModelReader
from steelyard.sampling.verifiers.runners.packed_attention import NAME, use_packs
from steelyard.sampling.verifiers.runners.packing import BUDGET, Branch, branches, padded
from steelyard.sampling.verifiers.scored_items import Item, Scores
from tests.models import tiny
from tests.models.items import samples
from tests.models.test_local import token_protocol

torch.set_num_threads(1)
SAMPLES = samples(2, 4, seed=0)
SHAPE = tiny.SHAPE | {"vocab_size": 100}


def mistral(**settings: Any) -> Any:
    torch.manual_seed(0)
    return MistralModel(MistralConfig(**SHAPE, **settings)).eval()


def first_two(hidden: torch.Tensor) -> torch.Tensor:
    return hidden[:, :2]


def numbers(count: int, size: int, questions: int = 1) -> list[Branch]:
    """Responses whose last position is followed by three ids more, as in a chat."""
    rng = np.random.default_rng(0)
    rendered = [Rendered([1, 2, 3, *rng.integers(4, 99, size).tolist()], [2, size - 1]) for _ in range(count)]
    return branches(rendered, [i * questions // count for i in range(count)])


@pytest.mark.parametrize(
    "trunk",
    [mistral(sliding_window=8), Gemma2Model(Gemma2Config(**SHAPE, head_dim=32)).eval()],
    ids=["window", "gemma"],
)
def test_a_model_that_cannot_be_packed_is_read_in_batches_by_length_as_before(trunk: Any) -> None:
    before = trunk.config._attn_implementation
    reader = ModelReader(trunk, first_two, context=100, budget=200)
    assert not reader.packed
    assert trunk.config._attn_implementation == before
    some = numbers(8, 24)
    for batch in reader.batches(some):
        for i, row in zip(batch, reader.launch([some[i] for i in batch])(), strict=True):
            with torch.inference_mode():
                alone = trunk(input_ids=torch.tensor([some[i].rendered.ids]), use_cache=False).last_hidden_state[0]
            np.testing.assert_allclose(np.asarray(row), alone[some[i].rendered.positions][:, :2], atol=1e-4)


def test_a_build_that_reads_packs_otherwise_than_one_by_one_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    trunk = mistral(sliding_window=None)
    before = trunk.config._attn_implementation
    monkeypatch.setattr(
        "steelyard.sampling.verifiers.runners.packed_attention._by_segment",
        lambda _m, query, *_, **__: query.transpose(1, 2),
    )
    assert not use_packs(trunk, 100)
    assert trunk.config._attn_implementation == before

    def missing(*_: Any, **__: Any) -> Any:
        raise NotImplementedError("no kernel for this GPU")

    monkeypatch.setattr("steelyard.sampling.verifiers.runners.packed_attention._by_segment", missing)
    assert not use_packs(trunk, 100)
    monkeypatch.undo()
    assert use_packs(trunk, 100)
    assert trunk.config._attn_implementation == NAME


def test_only_what_is_read_passes_the_last_layer_whole() -> None:
    trunk = mistral(sliding_window=None)
    reader = ModelReader(trunk, first_two, context=100, budget=10_000)
    some = numbers(6, 20, questions=2)
    seen: list[int] = []
    for layer in trunk.layers:
        layer.mlp.register_forward_hook(lambda _module, given, _out: seen.append(given[0].shape[1]))
    reader.launch(some)()
    tokens = int(reader._inputs(some)[0]["input_ids"].numel())
    assert seen == [*[tokens] * (len(trunk.layers) - 1), 2 * len(some)]


def test_the_free_memory_of_a_gpu_decides_how_many_tokens_a_batch_has() -> None:
    seven_billion = MistralConfig(intermediate_size=18944, hidden_size=3584)
    budgets = [gpu_budget(seven_billion, gigabytes << 30) for gigabytes in (4, 60, 120)]
    assert budgets[0] == 2 * BUDGET
    assert 2 * BUDGET < budgets[1] < budgets[2] == 6 * BUDGET
    wide = MistralConfig(intermediate_size=2**16, hidden_size=3584)
    assert gpu_budget(wide, 10**12) * wide.intermediate_size < 2**31


class Small:
    """A trunk on a GPU whose memory ends at so many tokens."""

    def __init__(self, reader: ModelReader, most: int) -> None:
        self.trunk, self.most = reader.trunk, most
        self.tried: list[int] = []

    def __call__(self, **inputs: Any) -> Any:
        self.tried.append(inputs["input_ids"].numel())
        if self.tried[-1] > self.most:
            raise torch.OutOfMemoryError(f"CUDA out of memory: {self.tried[-1]} tokens")
        return self.trunk(**inputs)


@pytest.mark.parametrize("packed", [True, False])
def test_a_batch_too_large_for_the_gpu_is_halved_remembered_and_said_once(packed: bool) -> None:
    window = None if packed else 8
    some = numbers(24, 20, questions=6)
    expected = ModelReader(mistral(sliding_window=window), first_two, context=100, budget=10_000).launch(some)()
    reader = ModelReader(mistral(sliding_window=window), first_two, context=100, budget=10_000)
    assert reader.packed == packed
    reader.trunk = small = Small(reader, most=130)  # type: ignore[assignment]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = reader.launch(some)()
        again = [row for batch in reader.batches(some) for row in reader.launch([some[i] for i in batch])()]
    for found in (rows, again):
        assert len(found) == len(expected)
        for row, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.asarray(row), np.asarray(other), atol=1e-4)
    too_large = [tokens for tokens in small.tried if tokens > 130]
    assert too_large == sorted(set(too_large), reverse=True), "the same size is not tried twice"
    assert len(too_large) <= 2
    assert [str(each.message) for each in said if issubclass(each.category, SteelyardWarning)] == [
        f"the GPU has too little memory for {too_large[0]} tokens at once: batches are halved from here on"
    ]


def test_one_response_too_large_for_the_gpu_fails_with_the_reason_and_the_others_are_scored(tmp_path: Path) -> None:
    local = Local(token_protocol("math-shepherd"), str(tiny.make("math-shepherd", tmp_path / "m")))
    long = Item("Why?", ["we add the numbers"] * 200)
    local.reader.trunk = Small(local.reader, most=600)  # type: ignore[assignment]

    async def both() -> dict[int, Scores | str]:
        return {id(item): result async for item, result in local.score(iter([long, *SAMPLES]))}

    found = asyncio.run(both())
    reason = found[id(long)]
    assert isinstance(reason, str)
    assert "too little memory for" in reason
    assert "--context" in reason
    assert all(isinstance(found[id(item)], Scores) for item in SAMPLES)


def test_layers_are_compiled_once_enough_was_read_and_stay_as_they_are_where_that_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trunk = mistral(sliding_window=None)
    some = numbers(6, 20)
    reader = ModelReader(trunk, first_two, context=100, budget=10_000)
    plain = np.stack([np.asarray(row) for row in reader.launch(some)()])
    assert not reader.trunk.on
    times = []

    def broken(layer: Any, **_: Any) -> None:
        times.append(1)

        def fails(*_: Any, **__: Any) -> Any:
            raise RuntimeError("no C compiler")

        layer._compiled_call_impl = fails

    monkeypatch.setattr(torch.nn.Module, "compile", broken)
    reader.trunk.left = 0
    for _ in range(2):
        np.testing.assert_allclose(np.stack([np.asarray(row) for row in reader.launch(some)()]), plain, atol=1e-6)
    assert len(times) == tiny.SHAPE["num_hidden_layers"], "it is tried once"


def test_padding_needs_no_mask() -> None:
    trunk = mistral(sliding_window=None)
    short, long = Rendered([5, 6, 7], [2]), Rendered(list(range(5, 40)), [3])
    ids, read = padded([long, short])
    with torch.inference_mode():
        together = trunk(input_ids=torch.from_numpy(ids)).last_hidden_state.flatten(0, 1)[read]
        alone = trunk(input_ids=torch.tensor([short.ids])).last_hidden_state[0, 2]
    torch.testing.assert_close(together[1], alone, atol=1e-5, rtol=0)
