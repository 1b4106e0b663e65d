"""The kernels of flash-attn-4, by stand-ins that do the same in plain torch: no machine of the tests has the GPU."""

from __future__ import annotations

import sys
import warnings
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention, silu

from steelyard.foundation.errors import SteelyardWarning
from steelyard.sampling.verifiers.runners import fused_layers
from steelyard.sampling.verifiers.runners.fused_layers import FUSED, fuse, fused_network
from steelyard.sampling.verifiers.runners.model_reader import ModelReader
from steelyard.sampling.verifiers.runners.packed_attention import NAME
from tests.models.test_model_reader import first_two, mistral, numbers

SOME = numbers(6, 20, questions=2)


def gemm_act(x: Any, both: Any, *, activation: str, store_preact: bool, tuned: bool, concat_layout: Any) -> Any:
    assert (activation, store_preact, tuned, concat_layout) == ("swiglu", False, False, ("B",))
    gate, up = (x @ both).chunk(2, dim=-1)
    return None, silu(gate) * up


def flash_attn_varlen_func(
    query: Any, key: Any, value: Any, *, cu_seqlens_q: Any, cu_seqlens_k: Any, softmax_scale: float, causal: bool,
    **longest: int,
) -> Any:  # fmt: skip
    assert causal
    spans = list(zip(pairwise(cu_seqlens_q.tolist()), pairwise(cu_seqlens_k.tolist()), strict=True))
    assert longest == {
        "max_seqlen_q": max(last - first for (first, last), _ in spans),
        "max_seqlen_k": max(end - begin for _, (begin, end) in spans),
    }
    out = torch.empty_like(query)
    for (first, last), (begin, end) in spans:
        shown = torch.ones(last - first, end - begin, dtype=torch.bool).tril(end - begin - last + first)
        q, k, v = (part.transpose(0, 1) for part in (query[first:last], key[begin:end], value[begin:end]))
        attended = scaled_dot_product_attention(q, k, v, attn_mask=shown, scale=softmax_scale, enable_gqa=True)
        out[first:last] = attended.transpose(0, 1)
    return out, None


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Packages of the same names as the real ones, and a GPU of the right kind."""
    made = {name: ModuleType(name) for name in ("quack", "quack.gemm_interface", "flash_attn", "flash_attn.cute")}
    made["quack.gemm_interface"].gemm_act = gemm_act  # type: ignore[attr-defined]
    made["flash_attn.cute"].flash_attn_varlen_func = flash_attn_varlen_func  # type: ignore[attr-defined]
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(fused_layers, "on_hopper", lambda _trunk: True)
    monkeypatch.setattr(fused_layers, "_attention", fused_layers._attention.__wrapped__)  # not the one of another test
    return made


def read(reader: ModelReader) -> torch.Tensor:
    return torch.as_tensor([row.tolist() for row in reader.launch(SOME)() if not isinstance(row, str)])


@pytest.mark.usefixtures("kernels")
def test_a_model_reads_the_same_with_the_kernels_and_is_left_as_it_was() -> None:
    trunk = mistral(sliding_window=None)
    reader = ModelReader(trunk, first_two, context=100, budget=10_000)
    before, weights = read(reader), {name: each.clone() for name, each in trunk.state_dict().items()}
    undo = fuse(trunk)
    assert trunk.config._attn_implementation == FUSED
    assert all(isinstance(layer.mlp, fused_network()) for layer in trunk.layers)
    torch.testing.assert_close(read(reader), before, atol=1e-4, rtol=0)
    undo()
    assert trunk.config._attn_implementation == NAME
    assert all(type(layer.mlp).__name__ == "MistralMLP" for layer in trunk.layers)
    torch.testing.assert_close(dict(trunk.state_dict()), weights, atol=0, rtol=0)
    torch.testing.assert_close(read(reader), before, atol=0, rtol=0)


@pytest.mark.usefixtures("kernels")
def test_the_matrices_of_a_network_are_not_held_twice() -> None:
    trunk = mistral(sliding_window=None)
    ModelReader(trunk, first_two, context=100, budget=10_000)
    network = trunk.layers[0].mlp
    fuse(trunk)
    both = trunk.layers[0].mlp.both
    assert network.gate_proj.weight.data_ptr() == both.data_ptr()
    assert network.up_proj.weight.untyped_storage().data_ptr() == both.untyped_storage().data_ptr()


def wrong(*_: Any, **__: Any) -> Any:
    """A kernel that returns other numbers."""
    x, both, *_rest = _
    return None, -gemm_act(x, both, **__)[1]


def failing(*_: Any, **__: Any) -> Any:
    """A package that does not fit to its compiler."""
    raise TypeError("epilogue fn depends on something that has no fail-closed semantic key")


@pytest.mark.parametrize(
    ("package", "kernel", "reason"),
    [
        ("quack.gemm_interface", {"gemm_act": wrong}, "they read a text differently"),
        ("quack.gemm_interface", {"gemm_act": failing}, "TypeError: epilogue fn depends on something"),
        ("flash_attn.cute", {}, "ImportError: cannot import name 'flash_attn_varlen_func'"),
        ("quack.gemm_interface", None, "No module named 'quack.gemm_interface'"),
        ("flash_attn.cute", None, None),
    ],
    ids=["wrong", "failing", "other", "without-quack", "not-installed"],
)
def test_kernels_that_fail_or_read_differently_are_not_used(
    package: str, kernel: dict[str, Any] | None, reason: str | None, kernels: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if kernel is None:
        monkeypatch.delitem(sys.modules, package)
        kernels[package.partition(".")[0]].__path__ = []
    else:
        kernels[package].__dict__.clear()
        kernels[package].__dict__.update({"__name__": package, **kernel})
    trunk = mistral(sliding_window=None)
    reader = ModelReader(trunk, first_two, context=100, budget=10_000)
    before = read(reader)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fuse(trunk)
    messages = [str(each.message) for each in caught if issubclass(each.category, SteelyardWarning)]
    assert len(messages) == (reason is not None)
    assert all(reason and reason in text and "steelyard[hopper]" in text for text in messages)
    assert trunk.config._attn_implementation == NAME
    assert not any(isinstance(layer.mlp, fused_network()) for layer in trunk.layers)
    torch.testing.assert_close(read(reader), before, atol=0, rtol=0)


@pytest.mark.usefixtures("kernels")
def test_a_network_with_another_activation_or_on_another_gpu_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for settings, hopper in (({"hidden_act": "gelu"}, True), ({}, False)):
        monkeypatch.setattr(fused_layers, "on_hopper", lambda _trunk, hopper=hopper: hopper)
        trunk = mistral(sliding_window=None, **settings)
        ModelReader(trunk, first_two, context=100, budget=10_000)
        fuse(trunk)
        assert trunk.config._attn_implementation == NAME
        assert not any(isinstance(layer.mlp, fused_network()) for layer in trunk.layers)


def test_a_cpu_is_not_a_hopper_gpu() -> None:
    assert not fused_layers.on_hopper(mistral(sliding_window=None))
