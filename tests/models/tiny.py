"""Tiny randomly initialised models of the verifiers' architectures, saved as the published ones are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM

from tests.models import vocabularies

HIDDEN = 64  # two attention heads of 32: the smallest that vLLM's CPU build has
SHAPE: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 4096,
    "initializer_range": 0.3,  # large enough for scores to differ
}


def qwen_prm(folder: Path) -> Path:
    """Qwen2 with a token head, named and set up as Qwen's own: remote code that nobody must run."""
    _save(Qwen2ForCausalLM(Qwen2Config(vocab_size=151665, **SHAPE)), folder)
    _more(
        folder,
        {
            "score.0.weight": torch.randn(HIDDEN, HIDDEN),
            "score.0.bias": torch.randn(HIDDEN),
            "score.2.weight": torch.randn(2, HIDDEN) * 0.3,
            "score.2.bias": torch.randn(2),
        },
        drop="lm_head",
    )
    settings = json.loads((folder / "config.json").read_text())
    remote = {"AutoModel": "modeling_qwen2_rm.Qwen2ForProcessRewardModel"}
    settings |= {"architectures": ["Qwen2ForProcessRewardModel"], "auto_map": remote, "num_labels": 2}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "modeling_qwen2_rm.py").write_text("raise SystemExit('remote code was run')\n")
    vocabularies.save("qwen", folder)
    return folder


def skywork(folder: Path) -> Path:
    _save(Qwen2ForCausalLM(Qwen2Config(vocab_size=151665, tie_word_embeddings=True, **SHAPE)), folder)
    head = {"v_head.summary.weight": torch.randn(1, HIDDEN) * 0.3, "v_head.summary.bias": torch.randn(1)}
    _more(folder, head)
    vocabularies.save("qwen", folder)
    return folder


def llama(folder: Path) -> Path:
    _save(LlamaForCausalLM(LlamaConfig(vocab_size=128256, **SHAPE)), folder)
    vocabularies.save("llama", folder, bos_token="<|begin_of_text|>")
    return folder


def mistral(folder: Path) -> Path:
    _save(MistralForCausalLM(MistralConfig(vocab_size=32000, **SHAPE)), folder)
    vocabularies.save("mistral", folder, bos_token="<s>")
    return folder


MAKERS = {
    "qwen-prm": qwen_prm,
    "qwen-prm800k": qwen_prm,
    "skywork-1.5b": skywork,
    "skywork-7b": skywork,
    "rlhflow-mistral": llama,
    "rlhflow-deepseek": llama,
    "math-shepherd": mistral,
    "versaprm": llama,
}


def make(name: str, folder: Path) -> Path:
    """The model of a verifier, the same every time."""
    torch.manual_seed(0)
    return MAKERS[name](folder)


def _save(model: Any, folder: Path) -> None:
    model.save_pretrained(folder)


def _more(folder: Path, tensors: dict[str, torch.Tensor], drop: str = "nothing") -> None:
    file = folder / "model.safetensors"
    kept = {name: value for name, value in load_file(file).items() if not name.startswith(drop)}
    save_file(kept | tensors, file, metadata={"format": "pt"})
