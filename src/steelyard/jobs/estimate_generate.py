"""What `generate` will spend on the samples that a run still misses, learned from those it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import polars as pl

from steelyard.jobs.estimate import Estimate, Range, predicted, tokens_of_text
from steelyard.jobs.generate_order import GenerateOrder
from steelyard.llm.named_upstreams import Upstream
from steelyard.llm.request import samples_per_request
from steelyard.runs.manifest import FILE
from steelyard.runs.parameters import Abilities
from steelyard.runs.run import Run, continued
from steelyard.runs.source_share import Share
from steelyard.runs.usage import Usage, usage_by_part


def estimate_generate(order: GenerateOrder, questions: pl.DataFrame, folder: Path) -> dict[str, Estimate]:
    """What each upstream will be asked for, by its name; only what is missing counts, and nothing is written."""
    prompts = {
        question: len(order.template.fill(prompt).encode("utf-8", "surrogatepass"))
        for question, prompt in questions.select("question", "prompt").iter_rows()
    }
    if not (folder / FILE).exists():
        everything = {question: [range(order.sampling.n)] for question in prompts}
        return {upstream.name: _estimate(order, everything, prompts, {}, None) for upstream in order.upstreams}
    with Run.open(folder) as run:
        run.manifest = continued(folder, run.manifest, order.manifest)
        usage = usage_by_part(run)
        return {
            upstream.name: _estimate(
                order,
                {question: list(_runs(samples)) for question, samples in _missing(Share(run, upstream.name))},
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
    able: Abilities | None,
) -> Estimate:
    """The estimate for one upstream; without `able` it is not known how many samples come with one request."""
    one = Abilities(most=1)
    best = one if order.how.fan_out else able or replace(one, most=order.sampling.n, logprobs=order.how.logprobs)
    worst = one if able is None else best
    fewest, largest = (
        {name: _requests(runs, samples_per_request(abilities, order.sampling)) for name, runs in missing.items()}
        for abilities in (best, worst)
    )
    samples = {name: sum(map(len, runs)) for name, runs in missing.items()}
    total, same = sum(samples.values()), fewest == largest
    number = Range(sum(fewest.values()), sum(largest.values()), sum(fewest.values()) if same else None)
    few, many = (_input({name: count * prompts[name] for name, count in requests.items()}, prompts, usage)
                 for requests in (fewest, largest))  # fmt: skip
    limit = total * order.sampling.max_tokens
    counted = [one.completion_tokens / one.samples for one in usage.values() if one.samples and not one.uncounted]
    output = predicted(counted, list(samples.values())).within(total, limit) if counted else Range(total, limit)
    return Estimate(total, number, Range(few.low, many.high, few.expected if same else None), output)


def _input(sizes: Mapping[str, int], prompts: Mapping[str, int], usage: Mapping[str, Usage]) -> Range:
    """The tokens of prompts of so many bytes, all requests for a question together."""
    counted = [
        one.prompt_tokens / (one.requests * prompts[name])
        for name, one in usage.items()
        if not one.uncounted and prompts.get(name)
    ]
    return tokens_of_text(sum(sizes.values()), counted, list(sizes.values()))


def _missing(share: Share) -> Iterator[tuple[str, list[int]]]:
    for question, keys in groupby(share.missing(), key=lambda key: key[0]):
        yield question, [sample for _, sample in keys]


def _runs(samples: Sequence[int]) -> Iterator[range]:
    """Numbers in order as ranges without gaps: one request asks for samples that follow each other."""
    first = 0
    for i in range(1, len(samples) + 1):
        if i == len(samples) or samples[i] != samples[i - 1] + 1:
            yield range(samples[first], samples[i - 1] + 1)
            first = i


def _requests(runs: Sequence[range], per_request: int) -> int:
    return sum(-(-len(run) // per_request) for run in runs)


def _abilities(run: Run, upstream: Upstream, order: GenerateOrder) -> Abilities | None:
    """What the server was found to do when the run was filled before."""
    key = {"model": upstream.model, "wanted": 1 if order.how.fan_out else order.sampling.n}
    key |= {"tried_logprobs": order.how.logprobs}
    for note in reversed(run.state.notes):
        if note.get("note") == "abilities" and key.items() <= note.items():
            return Abilities(**note["abilities"])
    return None
