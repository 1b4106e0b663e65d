"""A run scored by a verifier: settings checked, the run locked, the verifier asked. `steelyard score`, `sy.score`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from steelyard.errors import SettingError
from steelyard.jobs.interrupts import waits_for
from steelyard.jobs.progress import Allowed
from steelyard.jobs.score_samples import Scored, Scoring, score_samples
from steelyard.jobs.starting import started
from steelyard.llm.embedded import LOCAL
from steelyard.llm.upstream import check_upstream, model_name, served
from steelyard.runs.run import Run
from steelyard.runs.state import TAKEN
from steelyard.verifiers import find_verifier
from steelyard.verifiers.protocol import TokenProtocol
from steelyard.verifiers.runners.where import check_place, connect
from steelyard.verifiers.scored_items import Runner
from steelyard.verifiers.step_splits import known_split


async def ascore(
    run: str | Path,
    verifier: str,
    *,
    upstream: str | None = None,
    at: str | None = None,
    local: bool = False,
    model: str | None = None,
    split: str | None = None,
    context: int | None = None,
    column: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    max_failures: str | int = "10%",
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Do as `score` does, in async code. When it is cancelled, what was scored is saved.

    >>> import asyncio, polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> asyncio.run(sy.ascore("run", "logprob")).new
    8
    """
    at = at if upstream is None else upstream  # `at` is what `upstream` was called before
    protocol, known = find_verifier(verifier)
    check_place(known.name, protocol, at=at is not None, local=local)
    if at == LOCAL and isinstance(protocol, TokenProtocol):
        raise SettingError(f"the embedded LLM is no {known.name}: run it with --local, or --upstream a vLLM server")
    if at is not None:
        check_upstream(at, key_env)
    name = known.name if column is None else column
    if name in TAKEN or not name.strip():
        raise SettingError(
            f"scores cannot be called {name!r}: the table has such a column; choose another (--as, column=)"
        )
    async with AsyncExitStack() as stack:
        opened = stack.enter_context(Run.open(Path(run), write=True))
        allowed = Allowed.of(max_failures, len(opened.state.samples.done)).count
        weights = model_name(at, model) if at == LOCAL else model or known.model or opened.manifest.model
        scoring = Scoring(name, known.name, weights, known_split(known.split if split is None else split), context)

        async def ready() -> Runner:
            address = await stack.enter_async_context(started(served, at, key_env)) if at is not None else None
            return await connect(protocol, weights, address, context)

        done = await score_samples(opened, scoring, ready, max_failures=allowed, progress=progress)
        opened.write_table()
        return done


@waits_for(ascore)
def score() -> None:
    """Have a verifier score every sample of a run that has no score of it yet; what is scored is never asked twice.

    `upstream` is the address of the verifier's server, `local` runs it in this process; `column` names the scores.
    `progress` is called with the share of the samples that are scored. Ctrl-C saves what was scored and comes out as
    KeyboardInterrupt. The options are those of `steelyard score`, which lists the verifiers.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> sy.score("run", "logprob").new
    8
    >>> sy.score("run", "logprob").new
    0
    """


__test__ = {"score": score}  # a decorated function is not looked into otherwise
