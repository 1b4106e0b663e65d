"""Who does the work that is cut into parts: `ray`, `ray:ADDRESS` or `processes:2`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

from steelyard.engine.process_engine import ProcessEngine
from steelyard.engine.ray_engine import RayEngine
from steelyard.engine.scheduler import Failed, Finished, P
from steelyard.foundation.errors import SettingError


class Engine(Protocol):
    """Who does parts."""

    def run(
        self,
        task: Callable[[Any, Any], Any],
        order: Any,
        parts: Sequence[P],
        *,
        workers: int | None = None,
        least: int = 1,
        cpus: float = 1,
        gpus: float | None = 0,
        reads: Mapping[str, str] | None = None,
    ) -> Generator[Finished[P] | Failed[P]]:
        """Call `task(order, part)` for every part, and yield each as it ends.

        `task` is a function at the top of a module, `order` what all parts share; both are pickled, and a worker keeps
        its process from part to part. At most `workers` parts are under way; the default is as many as there is room
        for; fewer than `least` that have started in five minutes end the work with a SettingError; with 0 nobody is
        waited for where there is no room for a worker with its GPUs. `gpus` are those of each worker; None is one where
        there are any. `reads` are files by their SHA-256: a worker that finds others, or another version of Steelyard,
        ends the work with a SettingError before its first part. Close the iterator to stop.
        """


def engine_of(text: str | Engine) -> Engine:
    """Read what `--engine` says; an engine is one already.

    >>> engine_of("processes:2").workers, engine_of("ray:10.0.0.7:6379").address
    (2, '10.0.0.7:6379')
    """
    if not isinstance(text, str):
        if not callable(getattr(text, "run", None)):
            raise SettingError(f"{text!r:.80} is no engine: write 'ray', 'ray:ADDRESS' or 'processes:2'")
        return text
    name, _, rest = text.partition(":")
    if name == "ray" and not rest.startswith("//"):
        return RayEngine(rest or None)
    if name == "processes" and (not rest or (rest.isdecimal() and int(rest))):
        return ProcessEngine(int(rest) if rest else None)
    raise SettingError(
        f"no engine is called {text!r:.80}: write ray, ray:ADDRESS (the head of a cluster, as ray:10.0.0.7:6379) "
        "or processes:2"
    )
