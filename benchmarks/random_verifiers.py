"""Verifiers of the published sizes with random weights, and responses of MATH's length for them to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.scored_items import Item

LAYERS, HEAD_SIZE, SAMPLES = 28, 128, 32
TEXT = "the sum of two numbers is equal to that value and so we have more than one way to find it when they are"
WORDS = np.array(TEXT.split(" "))


@dataclass(frozen=True)
class Size:
    """The shape of a Qwen2 trunk, the verifier that has it, and what is wanted of it on one H200."""

    verifier: str
    hidden: int
    heads: int
    key_heads: int
    middle: int
    vocabulary: int
    goal: float  # responses/s
    questions: int  # so many that a run takes some 20 s

    @property
    def products(self) -> float:
        """Floating-point operations in matrix products per token, without those of attention.

        The last layer has no feed-forward network for tokens that are not read, which are nearly all.
        """
        attention = 2 * self.hidden * (self.heads + self.key_heads) * HEAD_SIZE
        return 2.0 * (LAYERS * attention + (LAYERS - 1) * 3 * self.hidden * self.middle)

    @property
    def head(self) -> dict[str, tuple[int, int]]:
        """The shapes of the head's matrices."""
        if self.verifier == "qwen-prm":
            return {"score.0": (self.hidden, self.hidden), "score.2": (2, self.hidden)}
        return {"v_head.summary": (1, self.hidden)}


SIZES = {
    "1.5B": Size("skywork-1.5b", 1536, 12, 2, 8960, 151936, goal=480, questions=256),
    "7B": Size("qwen-prm", 3584, 28, 4, 18944, 152064, goal=110, questions=64),
}


def make(size: Size, folder: Path, device: str) -> Path:
    """Write a model of a size with random weights in bf16, as the published one is."""
    import torch
    from transformers import Qwen2Config, Qwen2Model

    torch.manual_seed(0)
    config = Qwen2Config(
        hidden_size=size.hidden, num_hidden_layers=LAYERS, num_attention_heads=size.heads,
        num_key_value_heads=size.key_heads, intermediate_size=size.middle, vocab_size=size.vocabulary,
        max_position_embeddings=4096, tie_word_embeddings=True, architectures=["Qwen2ForCausalLM"],
    )  # fmt: skip
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        weights: dict[str, Any] = {f"model.{name}": each for name, each in Qwen2Model(config).state_dict().items()}
        for name, (rows, columns) in size.head.items():
            weights[f"{name}.weight"] = torch.randn(rows, columns) * 3 / columns**0.5  # so that scores differ
            weights[f"{name}.bias"] = torch.zeros(rows)
    torch.set_default_dtype(torch.float32)
    return save_model(weights, config, folder)


def save_model(weights: Mapping[str, Any], config: Any, folder: Path) -> Path:
    """Write a model with Qwen's vocabulary as it would be published."""
    from safetensors.torch import save_file

    from tests.models import vocabularies

    folder.mkdir(parents=True)
    own = {name: each.detach().cpu().clone() for name, each in weights.items()}
    save_file(own, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    vocabularies.save("qwen", folder)
    return folder


def token_protocol(verifier: str) -> TokenProtocol:
    """How a reward model is asked."""
    found, _ = find_verifier(verifier)
    if not isinstance(found, TokenProtocol):
        raise TypeError(verifier)
    return found


def responses(questions: int, seed: int) -> list[Item]:
    """Samples question by question: about 150 tokens before a response, and 460 of it in steps of 40."""
    rng = np.random.default_rng(seed)
    found: list[Item] = []
    for _ in range(questions):
        question = _text(rng, int(rng.integers(50, 190)))
        for length in np.clip(rng.lognormal(6.0, 0.5, SAMPLES), 60, 1800).astype(int):
            steps = [_text(rng, min(40, length - start)) for start in range(0, length, 40)]
            found.append(Item(question, steps, {"number": len(found)}))
    return found


def _text(rng: np.random.Generator, words: int) -> str:
    return " ".join(rng.choice(WORDS, words))
