"""Attention of packs: every segment reads the prefix of its question and itself, with no mask and no padding.

The keys and values of a prefix are computed once and copied before those of every sample. The copies cost little,
because models with grouped queries have few of these numbers per token. What is left is attention of variable
length, causal from the lower right corner: one flash kernel on a GPU, one small product per segment elsewhere.

Only the hidden states that are read leave the last layer: the others need no feed-forward network there.

The kernel is a private operator of torch, whose arguments may change. It was tried with torch 2.11.0+cu130 on an NVIDIA
H200, and the products with torch 2.13.0 on a CPU. With any version, `use_packs` compares a reading with the model's own
attention first, and leaves the model as it was if they differ or the operator is missing.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

from steelyard.sampling.verifiers.protocol import Rendered
from steelyard.sampling.verifiers.runners.packing import Pack, branches, packed

NAME = "steelyard-packed"
ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3")  # plain causal attention and rotary positions in every layer
ALIKE = 0.98  # cosine of two readings in bf16; readings of different texts are far below


def use_packs(trunk: Any, context: int) -> bool:
    """Let a model read packs of responses up to a context; False, and nothing changed, if it or torch cannot."""
    from transformers import AttentionInterface

    before, window = trunk.config._attn_implementation, getattr(trunk.config, "sliding_window", None)
    if trunk.config.model_type not in ARCHITECTURES or (window is not None and window < context):
        return False
    AttentionInterface.register(NAME, _attend)
    expected = _hidden(trunk, {"input_ids": _tensor(PROBE[1].ids)[None]})
    trunk.set_attn_implementation(NAME)
    last = trunk.layers[-1]
    last.forward = partial(_last_layer, last)
    try:
        if alike(probe(trunk), expected):
            return True
    except (AttributeError, NotImplementedError, RuntimeError):  # this build of torch has no such kernel for this GPU
        pass
    trunk.set_attn_implementation(before)
    del last.forward
    return False


def probe(trunk: Any) -> Any:
    """The hidden states of one of two short texts, read from a pack."""
    pack = packed(branches(PROBE, ["same"] * len(PROBE)))
    return _hidden(trunk, arguments(pack))[-len(PROBE[1].ids) :]


def alike(one: Any, other: Any) -> bool:
    """Whether two readings of the same text differ by no more than the noise of bf16."""
    from torch.nn.functional import cosine_similarity

    return bool((cosine_similarity(one, other, dim=-1) > ALIKE).all())


PROBE = (Rendered([1, 2, 3, 4], [3]), Rendered([1, 2, 5, 6, 7], [0, 1, 2, 3, 4]))


def _tensor(values: Any) -> Any:
    import torch

    return torch.as_tensor(values)


def _hidden(trunk: Any, inputs: dict[str, Any]) -> Any:
    import torch

    device = next(trunk.parameters()).device
    there = {name: value.to(device) if torch.is_tensor(value) else value for name, value in inputs.items()}
    with torch.inference_mode():
        return trunk(**there, use_cache=False).last_hidden_state[0].float()


def arguments(pack: Pack) -> dict[str, Any]:
    """What a model is called with to read a pack, still on the CPU."""
    ends = {"cu_seq_lens_q": pack.query_ends, "cu_seq_lens_k": pack.key_ends}
    longest = {"max_length_q": pack.query_ends, "max_length_k": pack.key_ends}
    return {
        "input_ids": _tensor(pack.ids)[None],
        "position_ids": _tensor(pack.positions)[None],
        "keys": _tensor(pack.keys),
        "read": _tensor(pack.read),
        **{name: _tensor(value) for name, value in ends.items()},
        **{name: int((value[1:] - value[:-1]).max()) for name, value in longest.items()},
    }


def _last_layer(layer: Any, hidden_states: Any, *, read: Any = None, **more: Any) -> Any:
    """The last layer, of the tokens that are read; of all if there is nothing said about it."""
    attended, _ = layer.self_attn(hidden_states=layer.input_layernorm(hidden_states), **more)
    hidden = hidden_states + attended
    hidden = hidden if read is None else hidden.index_select(1, read)
    return hidden + layer.mlp(layer.post_attention_layernorm(hidden))


def _attend(module: Any, query: Any, key: Any, value: Any, _mask: Any, **more: Any) -> Any:
    """What transformers calls in every layer; query, key and value are [1, heads, tokens, features]."""
    import torch

    half = query.dtype in (torch.bfloat16, torch.float16)
    return (_flash if query.is_cuda and half else _by_segment)(module, query, key, value, **more), None


def _flash(_module: Any, query: Any, key: Any, value: Any, *, scaling: float, keys: Any, **more: Any) -> Any:
    """All segments in one kernel."""
    import torch

    query, key, value = (tensor[0].transpose(0, 1) for tensor in (query, key, value))
    out, *_ = torch.ops.aten._flash_attention_forward(
        query, key.index_select(0, keys), value.index_select(0, keys),
        more["cu_seq_lens_q"], more["cu_seq_lens_k"], more["max_length_q"], more["max_length_k"],
        0.0, True, False, scale=scaling,  # no dropout, causal, no debugging mask
    )  # fmt: skip
    return out[None]


def _by_segment(module: Any, query: Any, key: Any, value: Any, *, scaling: float, keys: Any, **more: Any) -> Any:
    """Segment by segment, where there is no such kernel."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    groups = module.num_key_value_groups
    key, value = (tensor.index_select(2, keys).repeat_interleave(groups, 1) for tensor in (key, value))
    spans = zip(pairwise(more["cu_seq_lens_q"].tolist()), pairwise(more["cu_seq_lens_k"].tolist()), strict=True)
    out = torch.empty_like(query)
    for (first, last), (begin, end) in spans:
        behind = (end - begin) - (last - first)
        causal = torch.ones(last - first, end - begin, dtype=torch.bool, device=query.device).tril(behind)
        out[:, :, first:last] = scaled_dot_product_attention(
            query[:, :, first:last], key[:, :, begin:end], value[:, :, begin:end],
            attn_mask=causal if behind else None, is_causal=not behind, scale=scaling,
        )  # fmt: skip
    return out.transpose(1, 2)
