"""Estimates what `generate` spends on the missing samples of a run, learned from those it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import polars as pl

from steelyard.runs.manifest import FILE
from steelyard.runs.parameters import Abilities
from steelyard.runs.run import Run, resumed_manifest
from steelyard.runs.source_share import Share
from steelyard.runs.usage import Usage, usage_by_part
from steelyard.sampling.estimate.estimate import Estimate, Range, predicted, tokens_of_text
from steelyard.sampling.generate.generate_order import GenerateOrder
from steelyard.sampling.generate.noted_abilities import abilities_key, noted_abilities
from steelyard.sampling.llm.named_upstreams import Upstream
from steelyard.sampling.llm.request import samples_per_request


def estimate_generate(
    order: GenerateOrder, questions: pl.DataFrame, folder: Path, first: int | None = None
) -> dict[str, Estimate]:
    """The estimates by upstream, of the `first` questions or of all; only missing samples count.

    Nothing is written.
    """
    prompts = {
        question: len(order.template.fill(prompt).encode("utf-8", "surrogatepass"))
        for question, prompt in questions.select("question", "prompt").iter_rows()
    }
    if not (folder / FILE).exists():
        everything = {question: [range(order.sampling.n)] for question in [*prompts][:first]}
        return {upstream.name: _estimate(order, everything, prompts, {}, None) for upstream in order.upstreams}
    with Run.open(folder) as run:
        run.manifest = resumed_manifest(folder, run.manifest, order.manifest)
        run.questions = questions  # they may differ from those of a run without samples
        usage = usage_by_part(run)
        return {
            upstream.name: _estimate(
                order,
                {question: list(_ranges(samples)) for question, samples in _missing(Share(run, upstream.name, first))},
                prompts,
                usage.get(("sample", upstream.name), {}),
                _abilities(run, upstream, order),
            )
            for upstream in order.upstreams
        }


def _estimate(
    order: GenerateOrder,
    missing: Mapping[str, Sequence[range]],
    prompts: Mapping[str, int],
    usage: Mapping[str, Usage],
    abilities: Abilities | None,
) -> Estimate:
    """The estimate for one upstream; without `abilities` the number of samples per request is unknown."""
    single = Abilities(most=1)
    batched = abilities or replace(single, most=order.sampling.n, logprobs=order.how.logprobs)
    best = single if order.how.fan_out else batched
    worst = single if abilities is None else best
    fewest, largest = (
        {name: _requests(ranges, samples_per_request(case, order.sampling)) for name, ranges in missing.items()}
        for case in (best, worst)
    )
    samples = {name: sum(map(len, ranges)) for name, ranges in missing.items()}
    total, same = sum(samples.values()), fewest == largest
    requests = Range(sum(fewest.values()), sum(largest.values()), sum(fewest.values()) if same else None)
    low, high = (_input(counts, prompts, usage) for counts in (fewest, largest))
    limit = total * order.sampling.max_tokens
    counted = [used.completion_tokens / used.samples for used in usage.values() if used.samples and not used.uncounted]
    output = predicted(counted, list(samples.values())).within(total, limit) if counted else Range(total, limit)
    return Estimate(total, requests, Range(low.low, high.high, low.expected if same else None), output)


def _input(requests: Mapping[str, int], prompts: Mapping[str, int], usage: Mapping[str, Usage]) -> Range:
    """The input tokens of so many requests per question."""
    sizes = [count * prompts[name] for name, count in requests.items()]
    counted = [
        used.prompt_tokens / (used.requests * prompts[name])
        for name, used in usage.items()
        if not used.uncounted and prompts.get(name)
    ]
    return tokens_of_text(sum(sizes), sum(requests.values()), counted, sizes)


def _missing(share: Share) -> Iterator[tuple[str, list[int]]]:
    for question, keys in groupby(share.missing(), key=lambda key: key[0]):
        yield question, [sample for _, sample in keys]


def _ranges(samples: Sequence[int]) -> Iterator[range]:
    """Sorted sample numbers as ranges without gaps: one request can only ask for consecutive samples."""
    first = 0
    for i in range(1, len(samples) + 1):
        if i == len(samples) or samples[i] != samples[i - 1] + 1:
            yield range(samples[first], samples[i - 1] + 1)
            first = i


def _requests(ranges: Sequence[range], per_request: int) -> int:
    return sum(-(-len(samples) // per_request) for samples in ranges)


def _abilities(run: Run, upstream: Upstream, order: GenerateOrder) -> Abilities | None:
    n, how = order.sampling.n, order.how
    key = abilities_key(upstream.base, upstream.model, n, fan_out=how.fan_out, logprobs=how.logprobs)
    return noted_abilities(run, key)
