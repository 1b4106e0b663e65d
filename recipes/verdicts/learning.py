"""Stage learn: a small Qwen2 trunk learns to write solutions and to tell which of their steps are good, in minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.random_verifiers import save_model, token_protocol
from recipes.grid.log import timed
from recipes.grid.training import device, padded, precision, train
from recipes.verdicts.files import LEARN, MODEL, NO_LABEL, load
from recipes.verdicts.sizes import SEED, VERIFIER, VOCABULARY, Sizes
from steelyard.sampling.verifiers.tokens import Tokens
from tests.models import vocabularies


def run(work: Path, sizes: Sizes) -> None:
    """Write the folder of a model that `score --local` can read."""
    from transformers import Qwen2Config, Qwen2Model

    config = Qwen2Config(
        hidden_size=sizes.width, num_hidden_layers=sizes.layers, num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.key_heads, intermediate_size=sizes.middle, vocab_size=VOCABULARY,
        max_position_embeddings=4096, tie_word_embeddings=True, architectures=["Qwen2ForProcessRewardModel"],
    )  # fmt: skip
    torch.manual_seed(SEED)
    width = sizes.width
    score = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))
    model = nn.ModuleDict({"model": Qwen2Model(config), "score": score}).to(device(), precision())
    tokens = Tokens.load(vocabularies.FOLDER / "qwen")
    with timed(work, "learn", VERIFIER) as record:
        examples = [_example(row, tokens) for row in load(work / LEARN)]
        record["responses"] = len(examples)
        record["losses"] = _fit(model, examples, sizes)
    save_model(model.state_dict(), config, work / MODEL)


def _example(row: dict[str, Any], tokens: Tokens) -> tuple[Any, Any, Any]:
    """The ids, what each step is worth at its position, and which tokens are worth imitating."""
    rendered = token_protocol(VERIFIER).render(row["prompt"], row["steps"], tokens)
    ids = np.array(rendered.ids)
    labels = np.full(len(ids), NO_LABEL)
    labels[rendered.positions] = row["labels"]
    begin = rendered.positions[0] - len(tokens.plain([row["steps"][0]])[0])
    imitated = (np.arange(len(ids)) >= begin) & (min(row["labels"]) == 1)
    return ids, labels, imitated


def _fit(model: Any, examples: list[tuple[Any, Any, Any]], sizes: Sizes) -> list[float]:
    used = np.unique(np.concatenate([ids for ids, _, _ in examples]))
    place = np.zeros(VOCABULARY, np.int64)
    place[used] = np.arange(len(used))
    rows, places = torch.from_numpy(used).to(device()), torch.from_numpy(place).to(device())

    def loss(batch: list[int]) -> Any:
        ids = padded([examples[i][0] for i in batch], 0, torch.long)
        labels = padded([examples[i][1] for i in batch], NO_LABEL, torch.long)
        imitated = padded([examples[i][2] for i in batch], 0, torch.bool)[:, 1:]
        hidden = model["model"](input_ids=ids, use_cache=False).last_hidden_state
        known = labels != NO_LABEL
        judged = functional.cross_entropy(model["score"](hidden[known]).float(), labels[known])
        vocabulary = model["model"].embed_tokens.weight[rows]
        said = (hidden[:, :-1][imitated] @ vocabulary.T).float()
        return judged + functional.cross_entropy(said, places[ids[:, 1:][imitated]])

    lengths = [len(ids) for ids, _, _ in examples]
    return train(model, loss, lengths, epochs=sizes.epochs, rate=sizes.rate, budget=sizes.tokens, seed=SEED)
