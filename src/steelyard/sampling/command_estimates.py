"""Estimates what `generate`, `score` and `ask` would spend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from steelyard.runs.manifest import FILE
from steelyard.runs.parameters import Abilities
from steelyard.runs.run import Run, resumed_manifest
from steelyard.runs.source_share import Share
from steelyard.runs.token_usage import Usage, usage_by_part
from steelyard.sampling.ask.prepare import Prepared
from steelyard.sampling.cost_estimate import Estimate, Range, exactly, no_requests, predicted, tokens_of_text
from steelyard.sampling.generate.generate import abilities_key, noted_abilities
from steelyard.sampling.generate.generate_order import GenerateOrder
from steelyard.sampling.llm.completion_json import samples_per_request
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.llm.upstreams import Upstream
from steelyard.sampling.score.score import ScoreOrder, check_has_samples, check_source, opened_run
from steelyard.sampling.score.score_pairs import open_contests
from steelyard.sampling.score.score_samples import Scored, unscored_items
from steelyard.sampling.score.score_table import is_run, run_beside
from steelyard.sampling.verifiers.protocol import (
    ChatProtocol,
    EmbeddingProtocol,
    Message,
    PairProtocol,
    RecordedProtocol,
)
from steelyard.sampling.verifiers.runners.chat_server import TEXT_TOKENS
from steelyard.sampling.verifiers.runners.embedding_server import batches
from steelyard.sampling.verifiers.scored_items import Item

LAYOUT = 300  # tokens that a verifier's prompt adds to the question and the response; a generous guess


def estimate_generate(
    order: GenerateOrder, questions: pl.DataFrame, folder: Path, first: int | None = None
) -> dict[str, Estimate]:
    """The estimates by upstream for missing samples, of the `first` questions or of all; nothing is written."""
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


def estimate_ask(prepared: Prepared, *, on_demand: bool) -> dict[str, Estimate]:
    """The estimates by upstream: one request per sample, or fewer if the plan may stop early."""
    early = prepared.may_stop_early
    prompt = tokens_of_text(len(prepared.prompt.encode("utf-8", "surrogatepass")), 1)
    estimates: dict[str, Estimate] = {}
    for name, sampling in prepared.samplings.items():
        minimum, read = 0 if early else sampling.n, prompt * sampling.n
        estimates[name] = Estimate(
            sampling.n,
            Range(minimum, sampling.n, None if early else sampling.n),
            Range(prompt.low * minimum, read.high, None if early else read.expected),
            Range(minimum, sampling.n * sampling.max_tokens),
        )
    if prepared.reading is not None and prepared.reading.at is not None:  # one in this process bills nothing
        longest = max(sampling.max_tokens for sampling in prepared.samplings.values())
        samples = sum(estimate.samples for estimate in estimates.values())
        minimum = 0 if on_demand else samples
        protocol = prepared.reading.protocol
        writes = samples if isinstance(protocol, ChatProtocol) else 0
        criteria = protocol.criteria if isinstance(protocol, ChatProtocol) else ""
        layout = LAYOUT + len(criteria.encode("utf-8", "replace"))
        estimates[VERIFIER] = Estimate(
            0,
            Range(minimum, samples, None if minimum < samples else samples),
            Range(prompt.low * minimum, samples * (prompt.high + longest + layout)),
            Range(min(minimum, writes), writes),
        )
    return estimates


def estimate_score(
    source: Any,
    order: ScoreOrder,
    *,
    on_demand: bool = False,
    output: Path | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
) -> Estimate:
    """One request per response without a score, or fewer `on_demand`. A table that is not a run yet stays as it is."""
    order.check(on_demand=on_demand)
    check_source(source)
    with ExitStack() as stack:
        if not is_run(source) and not is_run(run_beside(source, output)):
            output = Path(stack.enter_context(TemporaryDirectory(prefix="steelyard-"))) / "run"
        run = stack.enter_context(opened_run(source, output, rename, layout, order.protocol))
        check_has_samples(run.folder, len(run.state.samples.done))
        if isinstance(order.protocol, PairProtocol):
            return _estimate_pairs(run, order, order.protocol)
        if isinstance(order.protocol, EmbeddingProtocol):
            return _estimate_embeddings(run, order, order.protocol)
        scores, size = Counter[str](), 0
        for item in unscored_items(run, order.scoring(run.manifest), Scored()):
            scores[item.sample["question"]] += 1
            size += _size(order, item)
        usage = usage_by_part(run).get(("score", order.name), {})
    total = scores.total()
    if order.at is None or isinstance(order.protocol, RecordedProtocol):
        return no_requests(total)
    counted = [used.prompt_tokens / used.requests for used in usage.values() if not used.uncounted]
    read = tokens_of_text(size, total, counted, list(scores.values()))
    written = total if isinstance(order.protocol, ChatProtocol) else 0
    if on_demand:
        return Estimate(total, Range(0, total), Range(0, read.high), Range(0, written))
    return Estimate(total, exactly(total), read, exactly(written))


def _estimate_pairs(run: Run, order: ScoreOrder, protocol: PairProtocol) -> Estimate:
    """Two requests per missing comparison; how many comparisons there are depends on their results."""
    contests = open_contests(run, order.scoring(run.manifest), protocol, Scored())
    prompts = dict(zip(run.questions["question"], run.questions["prompt"], strict=True))
    requests = [contest.requests_left() for contest in contests]
    sizes = [
        _bytes(protocol.render(prompts.get(contest.question) or "", ["", ""])) + 2 * contest.size
        for contest in contests
    ]
    usage = usage_by_part(run).get(("score", order.name), {}).values()
    counted = [used.prompt_tokens / used.requests for used in usage if not used.uncounted]
    ends = []
    for end in (0, 1):
        counts = [pair[end] for pair in requests]
        size = sum(count * size for count, size in zip(counts, sizes, strict=True))
        ends.append((sum(counts), tokens_of_text(size, sum(counts), counted, counts)))
    (fewest, low), (most, high) = ends
    return Estimate(
        sum(len(contest.unscored) for contest in contests),
        Range(fewest, most, fewest if fewest == most else None),
        Range(low.low, high.high, ((low + high) * 0.5).expected),
        Range(fewest, most * (TEXT_TOKENS if protocol.reads_text else 1), fewest if fewest == most else None),
    )


def _estimate_embeddings(run: Run, order: ScoreOrder, protocol: EmbeddingProtocol) -> Estimate:
    """Many texts per request, or one if the server takes no more; an embedding has no output tokens."""
    parts = list(batches(protocol, unscored_items(run, order.scoring(run.manifest), Scored())))
    items = [item for part in parts for item in part]
    size = sum(len(protocol.render(item.question, item.steps).encode("utf-8", "surrogatepass")) for item in items)
    usage = usage_by_part(run).get(("score", order.name), {}).values()
    counted = [used.prompt_tokens / used.samples for used in usage if used.samples and not used.uncounted]
    read = tokens_of_text(size, len(items), counted, [1.0] * len(items))
    return Estimate(len(items), Range(len(parts), len(items), len(parts)), read, exactly(0))


def _size(order: ScoreOrder, item: Item) -> int:
    """The length in bytes of the text that a verifier reads."""
    if isinstance(order.protocol, ChatProtocol):
        return _bytes(order.protocol.render(item.question, item.steps))
    return sum(len(part.encode("utf-8", "surrogatepass")) for part in (item.question, *item.steps))


def _bytes(messages: Sequence[Message]) -> int:
    return sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in messages)
