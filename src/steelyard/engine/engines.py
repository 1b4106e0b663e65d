"""Engines, which process parts with many workers: `ray`, `ray:ADDRESS` or `processes:2`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

from steelyard.engine.process_engine import ProcessEngine
from steelyard.engine.ray_engine import RayEngine
from steelyard.engine.scheduler import Failed, Finished, P
from steelyard.foundation.errors import SettingError


class Engine(Protocol):
    """Processes parts with many workers."""

    def run(
        self,
        task: Callable[[Any, Any], Any],
        order: Any,
        parts: Sequence[P],
        *,
        workers: int | None = None,
        least: int = 1,
        gpus: float | None = 0,
        reads: Mapping[str, str] | None = None,
    ) -> Generator[Finished[P] | Failed[P]]:
        """Call `task(order, part)` for every part, and yield each as it ends.

        `task` is a module-level function, `order` the argument that all parts share; both are pickled, and a worker
        keeps its process from part to part. At most `workers` parts run at once; the default is as many as fit. If
        fewer than `least` workers have started in five minutes, the work ends with a SettingError; with 0, also at
        once if no worker with its GPUs fits. `gpus` are those of each worker; None is one if there are any. `reads`
        are files and their SHA-256: a worker that finds others, or another version of Steelyard, ends the work with a
        SettingError before its first part. Close the iterator to stop.
        """


def engine_of(text: str | Engine) -> Engine:
    """Parse the value of `--engine`; an engine object is returned as it is.

    >>> engine_of("processes:2").workers, engine_of("ray:10.0.0.7:6379").address
    (2, '10.0.0.7:6379')
    """
    if not isinstance(text, str):
        if not callable(getattr(text, "run", None)):
            raise SettingError(f"{text!r:.80} is not an engine: write 'ray', 'ray:ADDRESS' or 'processes:2'")
        return text
    name, _, rest = text.partition(":")
    if name == "ray" and not rest.startswith("//"):
        return RayEngine(rest or None)
    if name == "processes" and (not rest or (rest.isdecimal() and int(rest))):
        return ProcessEngine(int(rest) if rest else None)
    raise SettingError(
        f"unknown engine {text!r:.80}: write ray, ray:ADDRESS (the head of a cluster, as ray:10.0.0.7:6379) "
        "or processes:2"
    )
