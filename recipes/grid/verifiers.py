"""Stages verifiers and scores: train the seven, then let each judge every step of every response."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from recipes.grid import llms
from recipes.grid.config import LLMS, MODELS, ROLLOUTS, SEED, SHAPES, VERIFIERS, Sizes, Verifier
from recipes.grid.corpus import Corpus
from recipes.grid.log import timed
from recipes.grid.model import Llama, Scorer
from recipes.grid.ragged import Ragged, save
from recipes.grid.training import device, in_batches, padded, precision, train

Example = tuple[NDArray[np.uint16], NDArray[np.float32], int]  # tokens; a label each, -1 = none; length of the prompt


def run_verifiers(work: Path, sizes: Sizes, only: Collection[str]) -> None:
    """Train every verifier that is not there yet."""
    corpus = Corpus.read(work)
    for number, (name, spec) in enumerate(VERIFIERS.items()):
        target = work / f"verifier-{name}.pt"
        if target.exists() or name not in only:
            continue
        with timed(work, "verifiers", name) as record:
            seed = SEED + 300 + number
            trunk = llms.load(work, spec.start, corpus) if spec.start else llms.base(work, corpus)
            scorer = Scorer(trunk, spec.surprise).to(device(), precision())
            scorer.trunk.requires_grad_(not spec.frozen)
            examples = _examples(work, corpus, spec, seed)
            record["responses"] = len(examples)
            record["losses"] = _fit(scorer, examples, spec, sizes, seed)
            torch.save(scorer.state_dict(), target)


def run_scores(work: Path, sizes: Sizes, only: Collection[str]) -> None:
    """Score every step of every distinct sample; then ask each language model about its own."""
    corpus = Corpus.read(work)
    samples = {llm: Distinct.read(work, llm, corpus) for llm in LLMS}
    for name, spec in VERIFIERS.items():
        if name not in only:
            continue
        shape = SHAPES[MODELS[spec.start].shape if spec.start else "smol"]
        scorer = Scorer(Llama(shape, len(corpus.strings)), spec.surprise).to(precision())
        scorer.load_state_dict(torch.load(work / f"verifier-{name}.pt"))
        scorer = scorer.to(device()).eval()
        for llm, some in samples.items():
            target = work / f"scores-{llm}-{name}.npz"
            if not target.exists():
                with timed(work, "scores", f"{llm}/{name}") as record:
                    steps = _score(scorer, some, corpus, sizes)
                    save(target, Ragged.of(steps, np.float16).named("logits"))
                    record.update(_aurocs(np.array([s[-1] for s in steps]), some))
    for llm, some in samples.items():
        target = work / f"self-{llm}.npz"
        if llm in only and not target.exists():
            with timed(work, "scores", f"{llm}/self_ptrue") as record:
                logits = _ask(llms.load(work, llm, corpus), some, corpus, sizes)
                save(target, {"logits": logits})
                record.update(_aurocs(logits, some))


@dataclass(frozen=True)
class Distinct:
    """The distinct responses of one language model: small models repeat themselves."""

    first: NDArray[np.int64]  # the row of each among all samples
    which: NDArray[np.int64]  # which of them every sample is
    ids: list[NDArray[np.uint16]]
    prompts: list[NDArray[np.uint16]]
    problem: NDArray[np.int64]
    right: NDArray[np.bool_]

    @classmethod
    def read(cls, work: Path, llm: str, corpus: Corpus) -> Distinct:
        split, rows = corpus.splits["test"], Ragged.read(np.load(work / f"samples-{llm}.npz"), "ids")
        samples = len(rows) // len(split)
        number: dict[tuple[int, bytes], int] = {}
        which = np.array([number.setdefault((i // samples, row.tobytes()), len(number)) for i, row in enumerate(rows)])
        _, first = np.unique(which, return_index=True)
        ids = [rows[row] for row in first]
        right = [corpus.answer(row) == split.answers[i // samples] for i, row in zip(first, ids, strict=True)]
        prompts = [split.prompts[i // samples] for i in first]
        return cls(first, which, ids, prompts, first // samples, np.array(right))


def _examples(work: Path, corpus: Corpus, spec: Verifier, seed: int) -> list[Example]:
    """Lay out what a verifier learns from, a label where it is to learn one."""
    examples = []
    for llm in spec.llms:
        split = corpus.splits[ROLLOUTS[llm].split]
        file = np.load(work / f"rollouts-{llm}.npz")
        ids = Ragged.read(file, "ids")
        samples = len(ids) // len(split)
        shares: dict[tuple[int, int], dict[int, float]] = {}
        columns = (file[f"step_{name}"] for name in ("problem", "sample", "number", "share"))
        for q, s, k, share in zip(*columns, strict=True):
            shares.setdefault((int(q), int(s)), {})[int(k)] = float(share)
        for row, response in enumerate(ids):
            q, s = divmod(row, samples)
            outcome = float(corpus.answer(response) == split.answers[q])
            labels = np.full(len(response) + 1, -1.0, np.float32)  # the end token carries the outcome too
            if spec.labels in ("hard", "soft"):
                if (q, s) not in shares:
                    continue
                ends = corpus.ends(response)
                for k, share in shares[q, s].items():
                    labels[ends[k]] = share if spec.labels == "soft" else float(share > 0)
                labels[ends[-1] :] = outcome
            elif spec.labels == "token":
                labels[:] = outcome
            else:
                labels[-2:] = outcome
            prompt = split.prompts[q]
            tokens = np.concatenate([prompt, response, [corpus.end]]).astype(np.uint16)
            examples.append((tokens, np.append(np.full(len(prompt), -1, np.float32), labels), len(prompt)))
    order = np.random.default_rng(seed).permutation(len(examples))[: spec.responses]
    return [examples[i] for i in order]


def _fit(scorer: Scorer, examples: list[Example], spec: Verifier, sizes: Sizes, seed: int) -> list[float]:
    def loss(batch: list[int]) -> Tensor:
        ids = padded([examples[i][0] for i in batch], 0, torch.long)
        labels = padded([examples[i][1] for i in batch], -1, torch.float32)
        known = labels >= 0
        begin = torch.tensor([examples[i][2] for i in batch], device=device())
        return functional.binary_cross_entropy_with_logits(scorer(ids, begin)[known].float(), labels[known])

    lengths = [len(tokens) for tokens, _, _ in examples]
    budget = sizes.tokens if len(examples) > 2_000 else sizes.tokens // 8  # little data: smaller batches
    return train(scorer, loss, lengths, epochs=spec.epochs, rate=spec.rate, budget=budget, seed=seed)


@torch.inference_mode()
def _score(scorer: Scorer, samples: Distinct, corpus: Corpus, sizes: Sizes) -> list[NDArray[np.float32]]:
    """Return the logits at the end of each step; the last step's is read at the end token."""
    pairs = list(zip(samples.prompts, samples.ids, strict=True))
    rows = [np.concatenate([prompt, ids, [corpus.end]]) for prompt, ids in pairs]
    steps: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(rows)
    for batch in in_batches([len(row) for row in rows], sizes.tokens * 8):
        begin = torch.tensor([len(pairs[i][0]) for i in batch], device=device())
        logits = scorer(padded([rows[i] for i in batch], 0, torch.long), begin).float().cpu().numpy()
        for i, line in zip(batch, logits, strict=True):
            prompt, ids = pairs[i]
            steps[i] = line[np.append(len(prompt) + corpus.ends(ids)[:-1], len(rows[i]) - 1)]
    return steps


@torch.inference_mode()
def _ask(model: Llama, samples: Distinct, corpus: Corpus, sizes: Sizes) -> NDArray[np.float32]:
    """Return log P(Yes) - log P(No) when the model is asked about its own solution."""
    model.eval()
    pairs = zip(samples.prompts, samples.ids, strict=True)
    rows = [np.concatenate([prompt, ids, corpus.judge]) for prompt, ids in pairs]
    asked = np.empty(len(rows), np.float32)
    for batch in in_batches([len(row) for row in rows], sizes.tokens * 8):
        hidden = model(padded([rows[i] for i in batch], 0, torch.long))
        last = torch.tensor([len(rows[i]) - 1 for i in batch], device=device())
        logits = model.logits(hidden[torch.arange(len(batch), device=device()), last]).float()
        asked[batch] = (logits[:, corpus.yes] - logits[:, corpus.no]).cpu().numpy()
    return asked


def _aurocs(score: NDArray[np.float32], samples: Distinct) -> dict[str, float]:
    """For the log: how often a right response scores above a wrong one, over all and within problems."""
    groups = [np.flatnonzero(samples.problem == q) for q in np.unique(samples.problem)]
    each = [_auroc(score[rows], samples.right[rows]) for rows in groups]
    known = [value for value in each if value is not None]
    return {
        "auroc": round(_auroc(score, samples.right) or 0.0, 3),
        "within": round(float(np.mean(known)) if known else 0.0, 3),
    }


def _auroc(score: NDArray[np.float32], right: NDArray[np.bool_]) -> float | None:
    """The rank sum of Mann and Whitney; None without both kinds."""
    values = np.sort(score)
    rank = (np.searchsorted(values, score, "left") + np.searchsorted(values, score, "right") - 1) / 2
    n, m = int(right.sum()), int((~right).sum())
    return float((rank[right].sum() - n * (n - 1) / 2) / (n * m)) if n and m else None
