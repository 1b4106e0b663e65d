"""What `generate` does between its words and its report: read the questions, open the run, work, stop on Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from steelyard.cli import show
from steelyard.cli.live_progress import duration, live
from steelyard.cli.server_options import opened
from steelyard.errors import SteelyardWarning

if TYPE_CHECKING:
    import polars as pl

    from steelyard.jobs.generate import Generate, How
    from steelyard.jobs.progress import Progress
    from steelyard.llm.prompts import Template
    from steelyard.runs.parameters import Sampling
    from steelyard.runs.state import Tally

REASONS = 5  # shown


@dataclass(frozen=True)
class Found:
    """The questions, where they came from, and how they are put."""

    table: pl.DataFrame
    source: str
    template: Template
    answers: str


class Ended(NamedTuple):
    """How a go at a run ended: its own work, what the run now holds, and whether it was stopped."""

    progress: Progress
    samples: Tally
    stopped: bool


@dataclass(frozen=True)
class Job:
    """What to sample, how, and where from."""

    sampling: Sampling
    how: How
    upstream: str
    key_env: str

    def read(
        self, source: str, rename: dict[str, str], limit: int | None, prompt: str | None, answers: str | None
    ) -> Found:
        """Read the questions and choose the prompt."""
        from steelyard.answers.extract import check_kind
        from steelyard.llm.prompts import read_template
        from steelyard.tables.questions.question_files import read_questions

        questions = read_questions(source, rename=rename, limit=limit)
        template = read_template(prompt or questions.prompt)
        return Found(questions.table, source, template, check_kind(answers or template.answers))

    def work(self, found: Found, folder: Path, beside: Path | None = None) -> Ended:
        """Fill the run; return how it ended. A finished run asks nobody.

        `beside` is a run with other settings that this one is forked from.
        """
        from steelyard.jobs.generate import Generate
        from steelyard.jobs.progress import Allowed, Progress
        from steelyard.llm.upstream import check_upstream
        from steelyard.runs.fork import fork
        from steelyard.runs.manifest import Manifest
        from steelyard.runs.run import Run
        from steelyard.tables.questions.question_files import fingerprint

        sampling = self.sampling
        if sampling.temperature == 0 and sampling.n > 1:
            what = (
                f"at temperature 0 the {sampling.n} samples of a question will be much the same: sample at 0.7, or -n 1"
            )
            warnings.warn(what, SteelyardWarning, stacklevel=2)
        Allowed.of(self.how.max_failures, 1)  # a mistake in it is said before anything is made
        check_upstream(self.upstream, self.key_env)
        manifest = Manifest(
            fingerprint(found.table), sampling.model, sampling.n, sampling.seed, found.template.text,
            {"temperature": sampling.temperature, "top_p": sampling.top_p, "max_tokens": sampling.max_tokens},
            found.answers, self.upstream, Path(found.source).name,
        )  # fmt: skip
        started = fork(beside, folder, manifest, found.table) if beside else Run.start(folder, manifest, found.table)
        with started as run:
            if next(run.missing(), None) is None:
                progress, stopped = Progress(run.wanted, run.wanted), False
            else:
                with opened(self.upstream, self.key_env) as address, live("Sampling") as watch:
                    job = Generate(run, address, sampling, found.template, self.how, watch)
                    progress = asyncio.run(_until_interrupted(job))
                stopped = job.stopped and next(run.missing(), None) is not None
            if not stopped:
                run.write_table()
        return Ended(progress, run.state.samples, stopped)  # once it is closed: all that waited is on the disk


async def _until_interrupted(job: Generate) -> Progress:
    """Work; the first Ctrl-C or SIGTERM stops the work well, the second one at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(name)
        job.stop()

    with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread, or Windows
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop)
    try:
        return await job.work()
    finally:
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            for name in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(name)


def tell(folder: Path, ended: Ended, json: bool) -> None:
    """Say where the run stands, what failed and why, and what comes next."""
    progress, samples, stopped = ended
    there, failed, reasons = len(samples.done), len(samples.failed), samples.reasons
    again = shlex.join(["steelyard", *sys.argv[1:]])
    if json:
        show.as_json(
            {
                "run": str(folder),
                "wanted": progress.wanted,
                "samples": there,
                "failed": failed,
                "reasons": dict(reasons.most_common()),
                "asked_now": progress.done + progress.failed,
                "tokens": progress.tokens,
                "seconds": round(progress.seconds, 3),
                "stopped": stopped,
                "again": again if stopped or failed else None,
            }
        )
        return
    if not progress.done and not progress.failed and not stopped:
        show.say(f"Nothing to ask: all {there:,} samples are in {folder}")
        return
    asked = f"{progress.done:,} samples now, {progress.tokens:,} tokens, {duration(progress.seconds)}"
    show.say(f"{folder}: {there:,} of {progress.wanted:,} samples ({asked})")
    if failed:
        rows = [(show.shortened(reason), f"{count:,}") for reason, count in reasons.most_common(REASONS)]
        show.table(f"{failed:,} samples failed; they stay in the table without an answer", ("reason", "samples"), rows)
    if stopped or failed:
        show.say(f"To {'go on' if stopped else 'try them again'}:\n\n  {again}")
    else:
        show.say(f"Next: steelyard score {shlex.quote(str(folder))} --verifier NAME")
