"""One command that scores a run: settings checked, the run locked, the verifier asked, signals obeyed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from steelyard.errors import SettingError
from steelyard.jobs.progress import Allowed
from steelyard.jobs.score_samples import Scored, Scoring, score
from steelyard.llm.embedded import LOCAL
from steelyard.llm.upstream import check_upstream, model_name, served
from steelyard.runs.run import Run
from steelyard.runs.state import TAKEN
from steelyard.verifiers import find_verifier
from steelyard.verifiers.protocol import TokenProtocol
from steelyard.verifiers.runners.where import check_place, connect
from steelyard.verifiers.scored_items import Runner
from steelyard.verifiers.step_splits import known_split

Result = TypeVar("Result")


def score_folder(
    folder: Path,
    verifier: str,
    *,
    at: str | None = None,
    local: bool = False,
    model: str | None = None,
    split: str | None = None,
    context: int | None = None,
    column: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    max_failures: str = "10%",
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Score every sample of a run that has no score of this verifier yet."""
    protocol, known = find_verifier(verifier)
    check_place(known.name, protocol, at=at is not None, local=local)
    if at == LOCAL and isinstance(protocol, TokenProtocol):
        raise SettingError(f"the embedded LLM is no {known.name}: run it with --local, or --at a vLLM server")
    if at:
        check_upstream(at, key_env)
    name = column or known.name
    if name in TAKEN or not name.strip():
        raise SettingError(f"scores cannot be called {name!r}: the table has such a column; choose another with --as")
    with Run.open(folder, write=True) as run, ExitStack() as stack:
        allowed = Allowed.of(max_failures, len(run.state.samples.done)).count
        weights = model_name(at, model) if at == LOCAL else model or known.model or run.manifest.model
        scoring = Scoring(name, known.name, weights, known_split(split or known.split), context)

        async def ready() -> Runner:
            address = stack.enter_context(served(at, key_env)) if at else None
            return await connect(protocol, weights, address, context)

        done = until_stopped(score(run, scoring, ready, max_failures=allowed, progress=progress))
        run.write_table()
        return done


def until_stopped(work: Coroutine[None, None, Result]) -> Result:
    """Run a job; SIGINT and SIGTERM end it in good order and come out as KeyboardInterrupt."""

    async def main() -> Result:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
        return await task

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
