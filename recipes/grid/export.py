"""Stage export: what leaves the GPU machine, one small file a language model."""

from __future__ import annotations

import io
import lzma
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import numpy as np

from recipes.grid.config import LLMS, VERIFIERS, Sizes
from recipes.grid.corpus import Corpus
from recipes.grid.ragged import Ragged
from recipes.grid.verifiers import Distinct


def run(work: Path, sizes: Sizes, only: Collection[str]) -> None:
    """Write grid-LLM.npz.xz: every distinct response, which one each sample is, and all its scores."""
    corpus = Corpus.read(work)
    (work / "export").mkdir(exist_ok=True)
    for llm in LLMS:
        if llm not in only:
            continue
        samples = Distinct.read(work, llm, corpus)
        first = samples.first
        logprob = np.load(work / f"samples-{llm}.npz")["logprob"]
        arrays: dict[str, Any] = {
            "which": samples.which.astype(np.uint32),
            "problem": (first // sizes.samples).astype(np.uint16),
        }
        arrays |= Ragged.of(samples.ids, np.uint16).named("ids") | {"logprob": logprob[first]}
        for name in VERIFIERS:
            file = work / f"scores-{llm}-{name}.npz"
            if file.exists():
                scores = np.load(file)
                arrays |= {name: scores["logits_values"], "steps_starts": scores["logits_starts"]}
        own = work / f"self-{llm}.npz"
        arrays["self_ptrue"] = np.load(own)["logits"] if own.exists() else np.zeros(len(first), np.float32)
        raw = io.BytesIO()
        np.savez(raw, **cast(Any, arrays))
        (work / "export" / f"grid-{llm}.npz.xz").write_bytes(lzma.compress(raw.getvalue(), preset=1))
