"""Stage llms: fine-tune, or train from scratch, the five language models."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from recipes.grid.config import LLM, MODELS, SEED, SHAPES, Sizes
from recipes.grid.corpus import Corpus
from recipes.grid.log import timed
from recipes.grid.model import Llama
from recipes.grid.training import device, padded, precision, train
from recipes.grid.weights import pretrained


def run(work: Path, sizes: Sizes, only: Collection[str]) -> None:
    """Train every model that is not there yet."""
    corpus = Corpus.read(work)
    for number, (name, spec) in enumerate(MODELS.items()):
        if name in only and not path(work, name).exists():
            with timed(work, "llms", name) as record:
                model, record["losses"] = _trained(work, sizes, corpus, spec, SEED + number)
                record["parameters"] = sum(p.numel() for p in model.parameters())
                torch.save({k: v.to(precision()) for k, v in model.state_dict().items()}, path(work, name))


def path(work: Path, name: str) -> Path:
    return work / f"llm-{name}.pt"


def load(work: Path, name: str, corpus: Corpus) -> Llama:
    """Read a model that this stage has made."""
    model = Llama(SHAPES[MODELS[name].shape], len(corpus.strings)).to(precision())
    model.load_state_dict(torch.load(path(work, name)))
    return model.to(device())


def base(work: Path, corpus: Corpus) -> Llama:
    """SmolLM2-135M as published; random weights in a rehearsal."""
    if SHAPES["smol"].layers != 30:
        return Llama(SHAPES["smol"], len(corpus.strings)).initialise(SEED)
    return pretrained(work, SHAPES["smol"], corpus.kept)


def _trained(work: Path, sizes: Sizes, corpus: Corpus, spec: LLM, seed: int) -> tuple[Llama, list[float]]:
    rng = np.random.default_rng(seed)
    smol = spec.shape == "smol"
    model = base(work, corpus) if smol else Llama(SHAPES[spec.shape], len(corpus.strings)).initialise(seed)
    model = model.to(device(), precision())
    prompts = corpus.splits[spec.split].prompts
    styles = ["verbose", "terse"] if spec.style == "both" else [spec.style]
    pairs = []
    for i in rng.permutation(len(prompts))[: spec.problems]:
        bad = rng.random() < spec.flawed
        for style in styles:
            right, wrong = (corpus.solutions[f"{spec.split}_{kind}"] for kind in (style, "flawed"))
            pairs.append((prompts[i], np.append(wrong[i] if bad and len(wrong[i]) else right[i], corpus.end)))

    def loss(batch: list[int]) -> Tensor:
        ids = padded([np.concatenate(pairs[i]) for i in batch], 0, torch.long)
        labels = padded(
            [np.append(np.full(len(pairs[i][0]), -1), pairs[i][1].astype(int)) for i in batch], -1, torch.long
        )
        predicts = labels[:, 1:] >= 0
        return functional.cross_entropy(model.logits(model(ids[:, :-1])[predicts]).float(), labels[:, 1:][predicts])

    lengths = [len(p) + len(s) for p, s in pairs]
    losses = train(
        model, loss, lengths, epochs=spec.epochs, rate=spec.rate, budget=sizes.tokens * spec.batch, seed=seed
    )
    return model, losses
