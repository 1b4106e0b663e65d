"""Score one part of a run in a worker. A loaded model is reused for the next part.

If several servers serve the verifier, each worker uses one that no other worker uses, as long as there are enough. A
worker holds the lock of its server as long as it lives, so the server of a dead worker is free again. If there are more
workers than servers, they are spread evenly.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from steelyard.engine.run_progress import PartDone, ProgressWriter
from steelyard.engine.worker_messages import captured_warnings
from steelyard.foundation.errors import RunError, SettingError, VerifierError
from steelyard.foundation.files import reason
from steelyard.runs.part_folders import LOCKS, locked_part
from steelyard.runs.parted_run import PartedRun, RunPart, fix_settings
from steelyard.runs.run import Run
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.retry import pause
from steelyard.sampling.llm.upstreams import check_upstream
from steelyard.sampling.score.frugal_rule import Frugal
from steelyard.sampling.score.score import ScoreOrder, score_opened
from steelyard.sampling.score.score_samples import refuse_other
from steelyard.sampling.verifiers.protocol import Protocol, TokenProtocol
from steelyard.sampling.verifiers.runners.many_requests import TRIES
from steelyard.sampling.verifiers.runners.where import connect, vocabulary
from steelyard.sampling.verifiers.scored_items import Item, Results, Runner, Scores

JUDGED = ("comparisons", "ties", "unreadable")
DETAILS = ("before", "truncated", "empty", "unsampled", "detected", "not_scored", "copied", "readable", *JUDGED)
_loaded: dict[tuple[str, str, int | None], Runner] = {}  # the models of this process; those on servers are not here
_reached: set[str] = set()  # servers that have answered this worker
_vocabulary = lru_cache(maxsize=1)(vocabulary)
_servers: dict[tuple[Path, tuple[str, ...]], tuple[str, int]] = {}  # the server of this worker and its lock file


@dataclass(frozen=True)
class ScorePartsOrder:
    """The verifier for the parts of a run, and the folder of the run."""

    folder: Path
    options: ScoreOrder
    gpus: bool
    on_demand: Frugal | None = None
    servers: tuple[str, ...] = ()


def score_part(order: ScorePartsOrder, part: RunPart) -> PartDone:
    """Score every response of a part that has no score, and derive its table."""
    run = PartedRun.read(order.folder)
    run.check(part)
    score_order = replace(order.options, at=own_server(order.folder, order.servers))
    progress_writer = ProgressWriter(order.folder, part.name, gpus=order.gpus)
    scoring = score_order.scoring(run.manifest)

    def begin() -> None:
        """Before the first score: no other worker may have started with other settings."""
        refuse_other(order.folder, fix_settings(order.folder, scoring.column, asdict(scoring)), scoring)

    with (
        captured_warnings(notes=order.on_demand is not None) as warnings,
        locked_part(run, part) as folder,
        progress_writer as writer,
        Run.open(folder, write=True) as opened,
    ):

        async def watched(protocol: Protocol, model: str, address: Address | None, context: int | None) -> Runner:
            return Watched(await cached_runner(score_order.verifier, protocol, model, address, context), writer, begin)

        options: dict[str, Any] = {"on_demand": order.on_demand, "is_part": True, "connect": watched}
        done = asyncio.run(score_opened(opened, score_order, **options))
        responses = len(opened.state.samples.done)
    settled = done.before + done.new + done.copied + done.not_scored
    failed, progress = done.failures.total(), writer.progress
    details = {name: getattr(done, name) for name in DETAILS}
    return PartDone(
        responses, settled, done.new, failed, progress.tokens, done.failures, details, warnings, {"": done.spent}
    )


async def cached_runner(
    verifier: str, protocol: Protocol, model: str, address: Address | None, context: int | None
) -> Runner:
    """Return the verifier: loaded once per process, or connected for every part; its tokenizer is read once."""
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
    """Connect; a server that answered for the previous part gets the time of a failing request to come back.

    Otherwise the worker of a dead server would fail part after part before other workers can take them.
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
    """A runner that counts its results; `begin` is called before the first score."""

    def __init__(self, runner: Runner, writer: ProgressWriter, begin: Callable[[], None]) -> None:
        self.runner, self.writer, self.begin = runner, writer, begin
        self.begun = False
        self.detected: dict[str, Any] = runner.detected

    async def score(self, items: Iterator[Item]) -> Results:
        progress = self.writer.progress
        async with aclosing(self.runner.score(items)) as results:
            async for item, result in results:
                if not self.begun and isinstance(result, Scores):
                    self.begin()
                    self.begun = True
                if "sample" in item.sample:  # else it is a comparison of two samples
                    progress.done += isinstance(result, Scores)
                    progress.failed += not isinstance(result, Scores)
                progress.tokens += item.sample.get("tokens") or 0
                self.writer.write()
                yield item, result

    async def close(self) -> None:
        """Close the runner; a loaded model stays loaded."""
        await self.runner.close()


def read_servers(text: str | None, key_env: str) -> tuple[str, ...]:
    """Parse `--upstream URL,URL` and check every address.

    >>> read_servers("http://a:8000/v1,http://b:8000/v1", "OPENAI_API_KEY")
    ('http://a:8000/v1', 'http://b:8000/v1')
    """
    servers = () if text is None else tuple(server.strip() for server in text.split(","))
    if LOCAL in servers:
        raise SettingError("the embedded LLM is for one process: name a server with --upstream URL")
    if len(servers) < 2:
        return servers
    for server in servers:
        check_upstream(server, key_env)
    if len(set(servers)) < len(servers):
        raise SettingError("--upstream names a server twice: name each once; workers are spread over them evenly")
    return servers


def own_server(run: Path, servers: tuple[str, ...]) -> str | None:
    """The server that this worker uses, always the same one; None if there is none."""
    if len(servers) < 2:
        return servers[0] if servers else None
    if (run, servers) not in _servers:
        while _servers:
            os.close(_servers.popitem()[1][1])
        _servers[run, servers] = take(run / LOCKS, servers)
    return _servers[run, servers][0]


def take(folder: Path, servers: Sequence[str]) -> tuple[str, int]:
    """Acquire the first server with the fewest users; closing the file releases it."""
    for others in count():
        for number, server in enumerate(servers):
            path = folder / f"server-{number}-{others}"
            try:
                file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            except OSError as error:
                raise RunError(f"cannot open {path}: {reason(error)}; make the folder writable") from None
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return server, file
            except BlockingIOError:
                os.close(file)
    raise AssertionError("some round finds a free one")
