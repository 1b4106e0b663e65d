"""Several upstreams fill one run at the same time, each at its own pace; one that is lost leaves the others going."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from steelyard.foundation.errors import UpstreamError
from steelyard.runs.run import Run
from steelyard.sampling.generate.generate import Generate
from steelyard.sampling.progress import Progress


class SeveralSources:
    """One `Generate` per source, by its name; together they are worked and stopped as one."""

    def __init__(self, run: Run, watch: Callable[[Progress], None]) -> None:
        self.run = run
        self.progress = Progress(run.wanted, len(run.state.samples.done))
        self._jobs: dict[str, Generate] = {}
        self._watch = watch

    def add(self, name: str, job: Generate) -> None:
        """Take in the work on one source, whose watcher is `tell`."""
        self._jobs[name] = job
        self.progress.parts[name] = job.progress

    async def work(self) -> Progress:
        """Work on all; why a source could not go on is in `progress.lost`. Any other error ends them all."""
        tasks = {asyncio.create_task(job.work()): name for name, job in self._jobs.items()}
        wrong: BaseException | None = None
        left = set(tasks)
        while left:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = task.exception()
                if isinstance(error, UpstreamError):
                    self.progress.lost[tasks[task]] = str(error)
                elif error is not None:
                    wrong = wrong or error
                    self.stop()
        self._add_up()
        if wrong is not None:
            raise wrong
        return self.progress

    def stop(self) -> None:
        """End the work on all sources early."""
        for job in self._jobs.values():
            job.stop()

    def tell(self, _: Progress) -> None:
        """Tell the watcher of all where they stand, when one of them has moved on."""
        self._add_up()
        self._watch(self.progress)

    def _add_up(self) -> None:
        """Where all stand together; it waits only where every source that is not done does."""
        total, parts = self.progress, self.progress.parts
        for name in ("done", "failed", "tokens", "under_way"):
            setattr(total, name, sum(getattr(part, name) for part in parts.values()))
        total.spent = {name: usage for part in parts.values() for name, usage in part.spent.items()}
        at_work = [part for name, part in parts.items() if part.seconds_left != 0 and name not in total.lost]
        total.waiting = min((part.waiting for part in at_work), default=0.0)


def lost_sources(lost: Mapping[str, str], sources: int) -> UpstreamError:
    """The error of a run that some of its upstreams could not go on with."""
    which = f"{len(lost)} of {sources} upstreams could not go on; " if len(lost) > 1 else ""
    return UpstreamError(which + "; ".join(f"{name}: {why}" for name, why in lost.items()))
