"""Stages samples and rollouts: what the language models answer, and how their steps fare."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import torch

from recipes.grid import llms
from recipes.grid.config import LLMS, ROLLOUTS, SEED, Rollouts, Sizes
from recipes.grid.corpus import Corpus, Split
from recipes.grid.log import timed
from recipes.grid.ragged import Ragged, save
from recipes.grid.sampler import Response, Sampler


def run_samples(work: Path, sizes: Sizes, only: Collection[str]) -> None:
    """Draw the grid's own responses: `samples` to every test problem, from every language model."""
    corpus = Corpus.read(work)
    for number, name in enumerate(LLMS):
        target = work / f"samples-{name}.npz"
        if target.exists() or name not in only:
            continue
        with timed(work, "samples", name) as record:
            torch.manual_seed(SEED + 100 + number)
            sampler = Sampler(llms.load(work, name, corpus), sizes, corpus.end)
            split = corpus.splits["test"]
            groups = sampler.generate(list(split.prompts), sizes.samples)
            save(target, _arrays(groups))
            record.update(_figures(groups, split, corpus))
        del sampler
        torch.cuda.empty_cache()


def run_rollouts(work: Path, sizes: Sizes, only: Collection[str]) -> None:
    """Draw what the verifiers learn from: responses with their outcome, and continuations of their steps."""
    corpus = Corpus.read(work)
    for number, (name, spec) in enumerate(ROLLOUTS.items()):
        split, target = corpus.splits[spec.split], work / f"rollouts-{name}.npz"
        if target.exists() or name not in only:
            continue
        with timed(work, "rollouts", name) as record:
            torch.manual_seed(SEED + 200 + number)
            sampler = Sampler(llms.load(work, name, corpus), sizes, corpus.end)
            groups = sampler.generate(list(split.prompts), spec.samples)
            record.update(_figures(groups, split, corpus))
            steps = _rolled_out(sampler, groups, split, corpus, spec)
            record["continuations"] = len(steps["step_share"]) * spec.step_rollouts
            save(target, _arrays(groups) | steps)
        del sampler
        torch.cuda.empty_cache()


def _rolled_out(
    sampler: Sampler, groups: list[list[Response]], split: Split, corpus: Corpus, spec: Rollouts
) -> dict[str, np.ndarray]:
    """Continue the first responses of some problems from the end of each step but the last.

    Returns, for each such step: the problem, the number of the response within it, the number of
    the step, and the share of the continuations that end in the right answer.
    """
    problem, sample, step, prompts = [], [], [], []
    for q in range(min(spec.step_problems, len(groups))):
        for s, response in enumerate(groups[q][: spec.step_samples]):
            ends = corpus.ends(response.ids)
            for k, end in enumerate(ends[:-1]):
                prompt = np.concatenate([split.prompts[q], response.ids[: end + 1]])
                if len(prompt) + 32 < sampler.sizes.context:
                    problem.append(q)
                    sample.append(s)
                    step.append(k)
                    prompts.append(prompt)
    continued = sampler.generate(prompts, spec.step_rollouts)
    share = [
        np.mean([corpus.answer(np.concatenate([p, r.ids])) == split.answers[q] for r in some])
        for p, q, some in zip(prompts, problem, continued, strict=True)
    ]
    numbers = {"step_problem": problem, "step_sample": sample, "step_number": step}
    return {name: np.array(v, np.int32) for name, v in numbers.items()} | {"step_share": np.array(share, np.float32)}


def _arrays(groups: list[list[Response]]) -> dict[str, np.ndarray]:
    """What to keep of the responses, all with the same number a problem."""
    every = [response for group in groups for response in group]
    logprob = np.array([r.logprob for r in every], np.float32)
    finished = np.array([r.finished for r in every])
    return Ragged.of([r.ids for r in every], np.uint16).named("ids") | {"logprob": logprob, "finished": finished}


def _figures(groups: list[list[Response]], split: Split, corpus: Corpus) -> dict[str, float | int | dict[str, float]]:
    """Base figures for the log: how often right, once and by majority, by level; how many distinct."""
    answers = [[corpus.answer(r.ids) for r in group] for group in groups]
    right = np.array([[a == gold for a in group] for group, gold in zip(answers, split.answers, strict=True)])
    top = [max(set(group), key=group.count) for group in answers]
    majority = np.mean([a == gold for a, gold in zip(top, split.answers, strict=True)])
    kinds = {f"level {n}": np.array(split.levels) == n for n in sorted(set(split.levels))}
    kinds |= {d: np.array(split.domains) == d for d in sorted(set(split.domains))}
    every = [r for group in groups for r in group]
    return {
        "pass@1": round(float(right.mean()), 3),
        "any": round(float(right.any(1).mean()), 3),
        "majority": round(float(majority), 3),
        "finished": round(float(np.mean([r.finished for r in every])), 3),
        "distinct": round(len({(q, r.ids.tobytes()) for q, g in enumerate(groups) for r in g}) / len(every), 3),
        "tokens": int(sum(len(r.ids) + 1 for r in every)),
        "by": {kind: round(float(right[mask].mean()), 2) for kind, mask in kinds.items()},
    }
