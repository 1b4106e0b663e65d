"""From questions to a run full of samples: what `steelyard generate` does, and `sy.generate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Unpack

from steelyard.foundation.errors import SettingError
from steelyard.runs.fork import fork as forked
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run
from steelyard.sampling.generate.fill_run import fill
from steelyard.sampling.generate.generate_options import GenerateOptions, show_options
from steelyard.sampling.generate.generate_order import read_order
from steelyard.sampling.interrupts import waits_for
from steelyard.sampling.llm.upstream import Serve, served
from steelyard.sampling.progress import Progress


@show_options
async def agenerate(
    questions: str | Path,
    run: str | Path,
    *,
    fork: str | Path | None = None,
    probe: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    serve: Serve = served,
    **options: Unpack[GenerateOptions],
) -> Progress:
    """Do as `generate` does, in async code. When it is cancelled it saves what arrives within a moment.

    >>> import asyncio, polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = asyncio.run(sy.agenerate("questions.jsonl", "run", upstream=upstream, model="m", n=4))
    >>> made.done, made.failed
    (8, 0)
    """
    asked, found = read_order(questions, **options)
    folder = Path(run)
    if is_parted_run(folder):
        raise SettingError(f"{folder} is a run in parts: go on with the --engine that it was begun with")
    if fork is None:
        filling = Run.start(folder, asked.manifest, found)
    else:
        filling = forked(folder, Path(fork), asked.manifest, found)
    return await fill(filling, asked, progress, serve, probe)


@waits_for(agenerate)
def generate() -> None:
    """Sample an LLM n times per question into the folder `run`; the same call again goes on where it was stopped.

    `questions` is a file with `question`, `prompt` and, where it is known, `gold`, or the name of a published set;
    `upstream` the address of an OpenAI-compatible server, or "local", or several by name: {"a": URL, "b": URL}, with
    `model` and `key_env` by name too; n is then that of each, and one that is lost leaves the others going and is an
    UpstreamError in the end. `fork` starts a run with these settings in
    another folder and takes along what it shares with `run`. `probe` samples the first so many questions alone, and the
    same call without it goes on from there. `progress` hears where the work stands, a few times
    a second; `serve` opens the server. A finished run asks nobody. Ctrl-C saves what arrives within a moment and
    comes out as KeyboardInterrupt. The options are those of `steelyard generate`.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> made.done, made.failed
    (8, 0)
    >>> sy.read("run", score="self_logprob")
    Pool(2 questions, 8 responses, 0 unreadable, score self_logprob)
    """


__test__ = {"generate": generate}  # a decorated function is not looked into otherwise
