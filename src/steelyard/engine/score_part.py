"""One part of a run is scored by a worker, in its place; a model that the worker has loaded is kept for the next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from steelyard.engine.own_server import own_server
from steelyard.engine.part_progress import ProgressWriter
from steelyard.engine.part_warnings import caught
from steelyard.engine.run_progress import PartDone
from steelyard.foundation.errors import VerifierError
from steelyard.runs.part_folders import locked_part
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parted_scores import fix_settings
from steelyard.runs.run import Run
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.retry import pause
from steelyard.sampling.score.frugal_rule import Frugal
from steelyard.sampling.score.score import ScoreOrder, score_opened
from steelyard.sampling.score.score_samples import refuse_other
from steelyard.sampling.verifiers.protocol import Protocol, TokenProtocol
from steelyard.sampling.verifiers.runners.many_requests import TRIES
from steelyard.sampling.verifiers.runners.where import connect, vocabulary
from steelyard.sampling.verifiers.scored_items import Item, Results, Runner, Scores

ABOUT = ("before", "truncated", "empty", "unsampled", "found", "not_asked", "copied", "readable")
_loaded: dict[tuple[str, str, int | None], Runner] = {}  # the models of this process; those on servers are not here
_reached: set[str] = set()  # servers that have answered this worker
_vocabulary = lru_cache(maxsize=1)(vocabulary)


@dataclass(frozen=True)
class PartsScoreOrder:
    """Which verifier reads the parts of a run, and where the run lies."""

    folder: Path
    asked: ScoreOrder
    gpus: bool
    on_demand: Frugal | None = None
    servers: tuple[str, ...] = ()


def score_part(order: PartsScoreOrder, part: RunPart) -> PartDone:
    """Score every response of a part that has no score, and derive its table."""
    run = PartedRun.read(order.folder)
    run.check(part)
    asked = replace(order.asked, at=own_server(order.folder, order.servers))
    told = ProgressWriter(order.folder, part.name, gpus=order.gpus)
    scoring = asked.scoring(run.manifest)

    def begin() -> None:
        """Before the first score: no other worker may have begun with something else."""
        refuse_other(order.folder, fix_settings(order.folder, scoring.column, asdict(scoring)), scoring)

    with (
        caught(notes=order.on_demand is not None) as said,
        locked_part(run, part) as folder,
        told as writer,
        Run.open(folder, write=True) as opened,
    ):

        async def watched(protocol: Protocol, model: str, address: Address | None, context: int | None) -> Runner:
            return Watched(await kept(asked.verifier, protocol, model, address, context), writer, begin)

        how: dict[str, Any] = {"on_demand": order.on_demand, "is_part": True, "connect": watched}
        done = asyncio.run(score_opened(opened, asked, **how))
        responses = len(opened.state.samples.done)
    settled = done.before + done.new + done.copied + done.not_asked
    failed, progress = done.failures.total(), writer.progress
    about = {name: getattr(done, name) for name in ABOUT}
    return PartDone(responses, settled, done.new, failed, progress.tokens, done.failures, about, said, {"": done.spent})


async def kept(verifier: str, protocol: Protocol, model: str, address: Address | None, context: int | None) -> Runner:
    """The verifier: loaded once in this process, or connected to for every part; its tokenizer is read once too."""
    if address is not None:
        return await _reconnect(protocol, model, address, context)
    if not isinstance(protocol, TokenProtocol):
        return await connect(protocol, model, address, context)
    key = (verifier, model, context)
    if key not in _loaded:
        _loaded.clear()  # a GPU has room for one
        _loaded[key] = await connect(protocol, model, address, context)
    return _loaded[key]


async def _reconnect(protocol: Protocol, model: str, address: Address, context: int | None) -> Runner:
    """Connect; a server that was there for the part before has the time of a failing request to come back.

    Otherwise the worker of a dead server would fail part after part, before those of the others can do them.
    """
    left = TRIES if address.base in _reached else 1
    while True:
        try:
            runner = await connect(protocol, model, address, context, read=_vocabulary)
        except VerifierError:
            left -= 1
            if not left:
                raise
            await asyncio.sleep(pause(TRIES - 1 - left))
        else:
            _reached.add(address.base)
            return runner


class Watched:
    """A runner that counts what comes from it; `begin` is called before the first score."""

    def __init__(self, runner: Runner, writer: ProgressWriter, begin: Callable[[], None]) -> None:
        self.runner, self.writer, self.begin = runner, writer, begin
        self.found: dict[str, Any] = runner.found

    async def score(self, items: Iterator[Item]) -> Results:
        """Score items, and tell how many."""
        progress = self.writer.progress
        async with aclosing(self.runner.score(items)) as results:
            async for item, result in results:
                if not progress.done and isinstance(result, Scores):
                    self.begin()
                progress.done += isinstance(result, Scores)
                progress.failed += not isinstance(result, Scores)
                progress.tokens += item.sample.get("tokens") or 0
                self.writer.write()
                yield item, result

    async def close(self) -> None:
        """Let go of what is held; a loaded model holds nothing but itself."""
        await self.runner.close()
