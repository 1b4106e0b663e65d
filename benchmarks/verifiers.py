"""Verifiers: what padding wastes, and how fast protocols lay out responses (needs the [prm] extra's tokenizers).

The responses are the bundled ones (150 characters), and long ones made by joining them: log-normal, 1,000 characters
in the median, some of them four times that. The tokenizers have the rules and tags of the real ones and merges learned
from the same texts. The tokenizer alone takes most of the time, so long responses are measured against it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measuring import Row, at_most
from steelyard.verifiers import find_verifier
from steelyard.verifiers.batches import WINDOW, batches, waste
from steelyard.verifiers.fitting import fit
from steelyard.verifiers.protocol import TokenProtocol
from steelyard.verifiers.steps import split
from steelyard.verifiers.tokens import Tokens

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one core
RESPONSES = 2048
MEDIAN = 1000  # characters
NAMES = ("qwen-prm", "skywork-7b", "rlhflow-deepseek", "math-shepherd", "versaprm")


def bundled() -> list[str]:
    with resources.as_file(resources.files("steelyard.data") / "responses.parquet") as path:
        texts = pl.scan_parquet(path).select("response").head(60_000).collect()["response"]
    shuffled: list[str] = texts.sample(fraction=1, shuffle=True, seed=0).to_list()
    return shuffled


def responses() -> list[str]:
    """Bundled responses joined by blank lines until they are long."""
    rng = np.random.default_rng(0)
    pieces = iter(bundled())
    made = []
    for length in rng.lognormal(np.log(MEDIAN), 0.6, RESPONSES):
        parts: list[str] = []
        while sum(map(len, parts)) < length:
            parts.append(next(pieces))
        made.append("\n\n".join(parts)[: int(length) + 1])
    return made


def tokenizers(texts: Sequence[str]) -> dict[str, Tokens]:
    """Small tokenizers that learned to merge what these texts repeat."""
    from tests.models import tokenizers_small as small

    made = {"qwen": small.qwen(), "llama": small.llama(), "mistral": small.mistral()}
    learned = {name: _learned(tokenizer, texts) for name, tokenizer in made.items()}
    family = ("qwen", "qwen", "llama", "mistral", "llama")
    return {name: Tokens(learned[each], name=name) for name, each in zip(NAMES, family, strict=True)}


def _learned(tokenizer: Any, texts: Sequence[str]) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    fresh = Tokenizer(models.BPE(byte_fallback=tokenizer.model.byte_fallback, unk_token=tokenizer.model.unk_token))
    fresh.normalizer = tokenizer.normalizer
    fresh.pre_tokenizer = tokenizer.pre_tokenizer or pre_tokenizers.Metaspace()
    tags = [" \n\n\n\n x ки"] * 20_000
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    alphabet = pre_tokenizers.ByteLevel.alphabet() if tokenizer.pre_tokenizer else []
    trainer = trainers.BpeTrainer(vocab_size=8000, special_tokens=added, show_progress=False, initial_alphabet=alphabet)
    fresh.train_from_iterator([*texts, *tags], trainer)
    return fresh


def rows() -> list[Row]:
    short, long = bundled()[:RESPONSES], responses()
    found = []
    for name, tokens in tokenizers(long).items():
        protocol, verifier = find_verifier(name)
        if not isinstance(protocol, TokenProtocol):
            raise AssertionError(name)
        rate, alone, _ = speed(protocol, verifier.split, tokens, short)
        what = f"{name}: bundled responses laid out a second of CPU"
        found.append(Row(what, f"{rate:,.0f} (tokenizer alone: {alone:,.0f})", "at least 2,000", rate >= 2000))
        rate, alone, lengths = speed(protocol, verifier.split, tokens, long)
        about = f"{rate:,.0f} a second, {np.mean(lengths):.0f} tokens each"
        what = f"{name}: laying out long responses against their tokenizer alone"
        found.append(at_most(what, alone / rate, 1.5, about))
        groups = []
        for start in range(0, RESPONSES, WINDOW):
            groups += [[start + i for i in group] for group in batches(lengths[start : start + WINDOW])]
        lost = waste(lengths, groups)
        plain = waste(lengths, [range(i, min(i + 16, RESPONSES)) for i in range(0, RESPONSES, 16)])
        figure = f"{lost:.1%} (16 at a time in the order they came: {plain:.0%})"
        found.append(Row(f"{name}: share of tokens that is padding", figure, "at most 15 %", lost <= 0.15))
    return found


def speed(protocol: TokenProtocol, how: str, tokens: Tokens, texts: Sequence[str]) -> tuple[float, float, list[int]]:
    """Responses laid out a second of CPU, responses tokenised alone, and the lengths in tokens."""
    steps = [split(text, how) for text in texts]
    best = [float("inf"), float("inf")]
    for _ in range(2):
        begun = time.process_time()
        for text in texts:
            tokens.tokenizer.encode_batch_fast([text], add_special_tokens=False)
        between = time.process_time()
        fitted = [fit(protocol, "What is the sum of all of these?", each, tokens, protocol.context) for each in steps]
        best = [min(best[0], between - begun), min(best[1], time.process_time() - between)]
    return len(texts) / best[1], len(texts) / best[0], [len(each.rendered.ids) for each in fitted]
