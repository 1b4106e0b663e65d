"""Kernels of flash-attn-4 for the layers of a model on a Hopper GPU; they are used where that package is installed.

Attention has a kernel written for this generation of GPUs. In a feed-forward network the first two products and the
activation are one kernel, so that the products never travel through memory:

    silu(x @ gate.T) * (x @ up.T)

Their matrices become one, of which those of the model are views. The kernel is of quack, which flash-attn-4 requires.
Both packages are young: `fuse` compares a reading before and after, and leaves the model as it was if they differ or
anything fails. Tried with flash-attn-4 4.0.0b36, quack-kernels 0.6.5, nvidia-cutlass-dsl 4.7.1 and torch 2.11.0+cu130
on an NVIDIA H200. With nvidia-cutlass-dsl 4.8 quack fails.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from steelyard.foundation.errors import SteelyardWarning
from steelyard.sampling.verifiers.runners.packed_attention import NAME, alike, probe

FUSED = f"{NAME}-fused"
PACKAGES = ("flash_attn", "flash_attn.cute")  # where they are missing, nothing was expected
HOPPER = 9  # the major number of its compute capability
SCHEMA = """(Tensor query, Tensor key, Tensor value, Tensor query_ends, Tensor key_ends, SymInt longest_query,
SymInt longest_key, float scale) -> Tensor"""


def fuse(trunk: Any) -> Callable[[], None]:
    """Let a model that reads packs use the kernels, if they work; the function returned leaves it as it was."""
    import torch

    networks = [layer.mlp for layer in trunk.layers]

    def undo() -> None:
        trunk.set_attn_implementation(NAME)
        for layer, network in zip(trunk.layers, networks, strict=True):
            layer.mlp = network

    if not (on_hopper(trunk) and trunk.config.hidden_act == "silu"):
        return undo
    expected = probe(trunk)
    try:
        _register_attention()
        with torch.inference_mode(False):  # weights made in that mode could not be used outside of it
            for layer in trunk.layers:
                layer.mlp = fused_network()(layer.mlp)
        trunk.set_attn_implementation(FUSED)
        if alike(probe(trunk), expected):
            return undo
        reason = "they read a text differently"
    except ModuleNotFoundError as error:
        reason = "" if error.name in PACKAGES else str(error)
    except torch.OutOfMemoryError:
        undo()
        raise
    except Exception as error:  # noqa: BLE001 - not made for this GPU, this torch or these weights
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    undo()
    if reason:
        text = f"the kernels of flash-attn-4 are not used, so scoring is slower: {reason}; install 'steelyard[hopper]'"
        warnings.warn(text, SteelyardWarning, stacklevel=2)
    return undo


def on_hopper(trunk: Any) -> bool:
    """Whether a model is on a GPU of the generation that the kernels are written for."""
    import torch

    device = next(trunk.parameters()).device
    return device.type == "cuda" and torch.cuda.get_device_capability(device)[0] == HOPPER


@cache
def fused_network() -> Any:
    """The class of a feed-forward network whose first two products and activation are one kernel."""
    import torch

    class FusedNetwork(torch.nn.Module):
        def __init__(self, network: Any) -> None:
            super().__init__()
            gate, up = network.gate_proj, network.up_proj
            if gate.bias is not None or up.bias is not None:
                raise NotImplementedError("products with a bias")
            both = torch.cat([gate.weight.data, up.weight.data])
            gate.weight.data, up.weight.data = both.chunk(2)
            self.register_buffer("both", both, persistent=False)
            self.down_proj = network.down_proj

        def forward(self, hidden: Any) -> Any:
            """The output for every token [1, tokens, features]."""
            from quack.gemm_interface import gemm_act

            _, middle = gemm_act(
                hidden[0], self.both.T, activation="swiglu", store_preact=False, tuned=False, concat_layout=("B",)
            )
            return self.down_proj(middle[None])

    return FusedNetwork


def _register_attention() -> None:
    """Make the attention of flash-attn-4 known to transformers."""
    from transformers import AttentionInterface

    attention = _attention()

    def attend(_module: Any, query: Any, key: Any, value: Any, _mask: Any, *, keys: Any, **more: Any) -> Any:
        query, key, value = (tensor[0].transpose(0, 1) for tensor in (query, key, value))
        ends = more["cu_seq_lens_q"], more["cu_seq_lens_k"]
        longest = more["max_length_q"], more["max_length_k"]
        out = attention(query, key.index_select(0, keys), value.index_select(0, keys), *ends, *longest, more["scaling"])
        return out[None], None

    AttentionInterface.register(FUSED, attend)


@cache
def _attention() -> Any:
    """The attention of flash-attn-4 as one operator, which torch can compile around."""
    import torch
    from flash_attn.cute import flash_attn_varlen_func

    warnings.filterwarnings("ignore", "Argument aux_data", UserWarning)  # of its compiler, at every shape

    @torch.library.custom_op("steelyard::attention", mutates_args=(), schema=SCHEMA)
    def attention(query: Any, key: Any, value: Any, query_ends: Any, key_ends: Any, *rest: Any) -> Any:
        longest_query, longest_key, scale = rest
        out, *_ = flash_attn_varlen_func(
            query, key, value, cu_seqlens_q=query_ends, cu_seqlens_k=key_ends, max_seqlen_q=longest_query,
            max_seqlen_k=longest_key, softmax_scale=scale, causal=True,
        )  # fmt: skip
        return out

    @attention.register_fake
    def _(query: Any, *_: Any) -> Any:
        return torch.empty_like(query)

    return attention
