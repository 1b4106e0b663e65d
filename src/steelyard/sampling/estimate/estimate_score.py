"""Estimates what `score` spends on the responses that have no score yet."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from steelyard.runs.usage import usage_by_part
from steelyard.sampling.estimate.estimate import Estimate, Range, exactly, no_requests, tokens_of_text
from steelyard.sampling.score.score import check_source, opened_run
from steelyard.sampling.score.score_opened import ScoreOrder, check_has_samples
from steelyard.sampling.score.score_samples import Scored, unscored_items
from steelyard.sampling.score.score_table import is_run, run_beside
from steelyard.sampling.verifiers.protocol import ChatProtocol, RecordedProtocol
from steelyard.sampling.verifiers.scored_items import Item


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
    order.check()
    check_source(source)
    with ExitStack() as stack:
        if not is_run(source) and not is_run(run_beside(source, output)):
            output = Path(stack.enter_context(TemporaryDirectory(prefix="steelyard-"))) / "run"
        run = stack.enter_context(opened_run(source, output, rename, layout, order.protocol))
        check_has_samples(run.folder, len(run.state.samples.done))
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


def _size(order: ScoreOrder, item: Item) -> int:
    """The length in bytes of the text that a verifier reads."""
    if isinstance(order.protocol, ChatProtocol):
        parts = [str(message["content"]) for message in order.protocol.render(item.question, item.steps)]
    else:
        parts = [item.question, *item.steps]
    return sum(len(part.encode("utf-8", "surrogatepass")) for part in parts)
