"""Responses scored by a verifier: settings checked, the run locked, the verifier asked: `steelyard score`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import SettingError
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run
from steelyard.sampling.interrupts import waits_for
from steelyard.sampling.score.frugal_rule import frugal_rule
from steelyard.sampling.score.score_opened import ScoreOrder, score_opened
from steelyard.sampling.score.score_samples import Scored
from steelyard.sampling.score.score_table import imported, is_run
from steelyard.sampling.verifiers.protocol import Protocol
from steelyard.voting.methods.base.method import Method


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
    answers: str = AUTO,
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
    order = ScoreOrder(verifier, at, local, model, split, context, column, key_env, max_failures)
    order.check()
    on_demand = frugal_rule(frugal, plan, order.name, answers, by_source=True)
    with opened_run(run, output, rename, layout, order.protocol) as opened:
        return await score_opened(opened, order, on_demand=on_demand, progress=progress)


def opened_run(
    source: Any, output: str | Path | None, rename: dict[str, str] | None, layout: str | None, protocol: Protocol
) -> Run:
    """Open the run, or make the one of a table."""
    check_source(source)
    if not is_run(source):
        return imported(source, output, rename, layout, protocol)
    if output is not None or rename or layout:
        raise SettingError(f"{source} is a run already, with columns of its own: leave -o, --rename and --layout away")
    return Run.open(Path(source), write=True)


def check_source(source: Any) -> None:
    """Refuse several runs, and a run in parts."""
    runs = [str(each) for each in source if is_run(each)] if isinstance(source, list | tuple) else []
    if runs:
        raise SettingError(f"{runs[0]} is a run, which is scored in its place: give it alone")
    if isinstance(source, str | Path) and is_parted_run(Path(source)):
        raise SettingError(f"{source} is a run in parts: have it scored by many workers with --engine")


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
    `answers` is the kind of answer that the vote groups by; a plan has its own. The options are those of
    `steelyard score`, which lists the verifiers.

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
