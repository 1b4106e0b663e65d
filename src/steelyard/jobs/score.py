"""Responses scored by a verifier: settings checked, the run locked, the verifier asked: `steelyard score`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from steelyard.errors import SettingError
from steelyard.jobs.frugal_rule import frugal_rule
from steelyard.jobs.frugal_score import score_on_demand
from steelyard.jobs.interrupts import waits_for
from steelyard.jobs.progress import Allowed
from steelyard.jobs.score_samples import Scored, Scoring, score_samples
from steelyard.jobs.score_table import check_prompts, imported, is_run
from steelyard.jobs.starting import started
from steelyard.llm.embedded import LOCAL
from steelyard.llm.upstream import check_upstream, model_name, served
from steelyard.methods.base.method import Method
from steelyard.runs.imported import columns_of
from steelyard.runs.run import Run
from steelyard.runs.state import TAKEN
from steelyard.verifiers import find_verifier
from steelyard.verifiers.protocol import Protocol, RecordedProtocol, TokenProtocol
from steelyard.verifiers.runners.where import check_place, connect
from steelyard.verifiers.scored_items import Runner
from steelyard.verifiers.step_splits import known_split


async def ascore(
    run: Any,
    verifier: str,
    *,
    upstream: str | None = None,
    output: str | Path | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    at: str | None = None,
    local: bool = False,
    model: str | None = None,
    split: str | None = None,
    context: int | None = None,
    column: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    max_failures: str | int = "10%",
    plan: Method | str | Path | None = None,
    frugal: str | bool | None = None,
    answers: str = "math",
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
    on_demand = frugal_rule(frugal, plan, name, answers)
    async with AsyncExitStack() as stack:
        opened = stack.enter_context(_opened(run, output, rename, layout, protocol))
        if opened.manifest.rows is not None:
            _check_imported(opened, protocol, name)
        allowed = Allowed.of(max_failures, len(opened.state.samples.done)).count
        weights = model_name(at, model) if at == LOCAL else model or known.model or opened.manifest.model
        if at is not None and not weights:
            why = "are of several LLMs" if opened.manifest.sources else "name no LLM (column 'llm')"
            raise SettingError(f"the responses {why}: name the model that {at} serves with --model")
        scoring = Scoring(name, known.name, weights, known_split(known.split if split is None else split), context)

        async def ready() -> Runner:
            address = await stack.enter_async_context(started(served, at, key_env)) if at is not None else None
            return await connect(protocol, weights, address, context)

        if on_demand is None:
            done = await score_samples(opened, scoring, ready, max_failures=allowed, progress=progress)
        else:
            once = not isinstance(protocol, RecordedProtocol)  # what was recorded with equal texts may differ
            limits: dict[str, Any] = {"max_failures": allowed, "progress": progress}
            done = await score_on_demand(opened, scoring, on_demand, ready, texts=once, **limits)
        opened.write_table()
        done.run = opened.folder
        return done


def _opened(
    source: Any, output: str | Path | None, rename: dict[str, str] | None, layout: str | None, protocol: Protocol
) -> Run:
    """Open the run, or make the one of a table."""
    runs = [str(each) for each in source if is_run(each)] if isinstance(source, list | tuple) else []
    if runs:
        raise SettingError(f"{runs[0]} is a run, which is scored in its place: give it alone")
    if not is_run(source):
        return imported(source, output, rename, layout, protocol)
    if output is not None or rename or layout:
        raise SettingError(f"{source} is a run already, with columns of its own: leave -o, --rename and --layout away")
    return Run.open(Path(source), write=True)


def _check_imported(opened: Run, protocol: Protocol, column: str) -> None:
    """What a run of `generate` always has, one of a table may lack; and it may have a column of that name."""
    columns = columns_of(opened.manifest)
    if column in columns:
        raise SettingError(f"scores cannot be called {column!r}: the table has such a column; choose another with --as")
    check_prompts(protocol, columns, opened.folder)


@waits_for(ascore)
def score() -> None:
    """Have a verifier score every response of a run or a table; what is scored is never asked twice.

    A run of `generate` is scored in its place. A table (a file, or anything that `read` takes) becomes a run of its
    own first, in the folder `output`; for FILE.jsonl that is FILE.scored. The same call again goes on there, a table
    that has changed is refused. Its column `prompt` is the text of the question; `rename` maps your names to ours,
    `layout` names the layout of its file.

    `upstream` is the address of the verifier's server, `local` runs it in this process; `column` names the scores.
    `progress` is called with the share of the samples that are scored. Ctrl-C saves what was scored and comes out as
    KeyboardInterrupt.

    With `frugal` ("exact", "expected", or True for what the plan has learned) the verifier reads only what can still
    change the verdict of `plan`; other scores are not asked, and the same call without it asks for them later.
    `answers` is the kind of answer that the vote groups by. The options are those of `steelyard score`, which lists the
    verifiers.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> sy.score("run", "logprob").new
    8
    >>> sy.score("run", "logprob").new
    0
    >>> table = {"question": ["a", "a"], "response": ["It is 2.", "It is 3."], "logprobs": [[-0.1], [-0.7]]}
    >>> sy.write(pl.DataFrame(table), "mine.jsonl")
    >>> scored = sy.score("mine.jsonl", "logprob")
    >>> str(scored.run), sy.read(scored.run, score="logprob").n_responses
    ('mine.scored', 2)
    """


__test__ = {"score": score}  # a decorated function is not looked into otherwise
