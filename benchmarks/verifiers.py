"""Verifiers: what padding wastes, and how fast protocols lay out responses (after `make test-models`).

The vocabularies are the published ones (tests/models/vocabularies.py). The responses are the bundled ones (175
characters), long ones made by joining them (log-normal, 1,000 characters in the median, some of them four times that)
and those of a Parquet file with a column `response` that STEELYARD_RESPONSES names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from importlib import resources

import numpy as np
import polars as pl

from benchmarks.measuring import Row
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.context_window import fit
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.runners.packing import WINDOW, batches, waste
from steelyard.sampling.verifiers.scored_items import split
from steelyard.sampling.verifiers.tokens import Tokens, agreeing, slowly

RESPONSES = 2048
MEDIAN = 1000  # characters
QUESTION = "What is the sum of all of these?"
NAMES = ("qwen-prm", "skywork-7b", "rlhflow-deepseek", "math-shepherd", "versaprm")


def bundled() -> list[str]:
    with resources.as_file(resources.files("steelyard.tables.data") / "responses.parquet") as path:
        texts = pl.scan_parquet(path).select("response").head(60_000).collect()["response"]
    shuffled: list[str] = texts.sample(fraction=1, shuffle=True, seed=0).to_list()
    return shuffled


def joined() -> list[str]:
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


def named() -> list[str]:
    """Some of the responses of the file that is named, if one is."""
    path = os.environ.get("STEELYARD_RESPONSES")
    if not path:
        return []
    texts = pl.read_parquet(path, columns=["response"])["response"].drop_nulls()
    found: list[str] = texts.filter(texts != "").sample(fraction=1, shuffle=True, seed=0).to_list()
    return found[:RESPONSES]


def rows() -> list[Row]:
    from tests.models.vocabularies import OF, tokens

    found = [faster(vocabulary) for vocabulary in sorted(set(OF.values()))]
    for name in NAMES:
        protocol, verifier = find_verifier(name)
        if not isinstance(protocol, TokenProtocol):
            raise TypeError(name)
        read = tokens(OF[name])
        read.plain(joined())  # enough for the faster tokenizer to begin
        for kind, texts in {"bundled": bundled()[:RESPONSES], "long": joined(), "your": named()}.items():
            if not texts:
                continue
            rate, lengths = speed(protocol, verifier.split, read, texts)
            about = f"{rate:,.0f} ({np.mean([*map(len, texts)]):,.0f} characters, {np.mean(lengths):.0f} tokens)"
            what = f"{name}: {kind} responses laid out a second of CPU"
            found.append(Row(what, about, "at least 2,000", rate >= 2000))
        found.append(padding(name, lengths))
    return found


def faster(vocabulary: str) -> Row:
    """fastokens against tokenizers on the same texts, and how long it takes to begin."""
    from tests.models.vocabularies import bare

    tokenizer, texts = bare(vocabulary), named() or joined()
    times = [time.process_time()]
    fast = agreeing(tokenizer.to_str(), tokenizer)
    times.append(time.process_time())
    if fast is None:
        return Row(f"{vocabulary}: fastokens", "is not installed, or differs", "agrees", False)
    for read in (fast, lambda text: slowly(tokenizer, [text])):
        for text in texts:
            read(text)
        times.append(time.process_time())
    begin, quick, slow = np.diff(times).tolist()
    figure = f"{slow / quick:.0f} x (tokenizers: {sum(map(len, texts)) / slow / 1e6:.1f} million characters a second)"
    return Row(f"{vocabulary}: fastokens, which begins in {begin:.1f} s, against tokenizers", figure, "no goal", True)


def speed(protocol: TokenProtocol, how: str, tokens: Tokens, texts: Sequence[str]) -> tuple[float, list[int]]:
    """Responses split and laid out a second of CPU, and their lengths in tokens."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        fitted = [fit(protocol, QUESTION, split(text, how), tokens, protocol.context) for text in texts]
        best = min(best, time.process_time() - begun)
    return len(texts) / best, [len(each.rendered.ids) for each in fitted]


def padding(name: str, lengths: Sequence[int]) -> Row:
    groups = []
    for start in range(0, len(lengths), WINDOW):
        groups += [[start + i for i in group] for group in batches(lengths[start : start + WINDOW])]
    lost = waste(lengths, groups)
    plain = waste(lengths, [range(i, min(i + 16, len(lengths))) for i in range(0, len(lengths), 16)])
    figure = f"{lost:.1%} (16 at a time in the order they came: {plain:.0%})"
    return Row(f"{name}: share of tokens that is padding", figure, "at most 15 %", lost <= 0.15)
