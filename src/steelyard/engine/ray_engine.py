"""Process parts on a Ray cluster: one actor per worker, and only names and summaries are transferred.

Ray is quiet, has no dashboard and sends no usage statistics. Where it is started here, it listens on 127.0.0.1 only;
a cluster listens where those who started it let it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

from steelyard.engine.ray_cluster import Need, default_gpus, nodes_of, workers_for
from steelyard.engine.scheduler import DiedError, Failed, Finished, P, Scheduler
from steelyard.foundation.arguments import with_names_of_this_process
from steelyard.foundation.cores import usable_cores
from steelyard.foundation.errors import SettingError
from steelyard.foundation.version import __version__

REACH = 10.0  # seconds for the head of a cluster to answer
STORE = 100 << 20  # bytes of the object store of a node that is started here: no rows travel through it
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # what Ray says about dead workers goes to standard output: we say it ourselves
}
LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # "0" keeps Ray to 127.0.0.1 on these systems, and on Linux too
OWN = {  # of a Ray that is started here
    "RAY_worker_niceness": "0",  # its workers are this command, and are not to wait behind all other processes
}


class RayEngine:
    """The cluster at an address; without one that of $RAY_ADDRESS, else one of this machine alone, for this command."""

    def __init__(self, address: str | None = None) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS") or None

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
        """Run a task on all parts, as described in steelyard/engine/engines.py."""
        with self.connected(workers) as ray:
            nodes = nodes_of(ray)
            need = Need(1, default_gpus(nodes) if gpus is None else gpus)
            useful = min(workers, len(parts)) if workers else None
            many = workers_for(nodes, need, useful, grows=least > 0)
            pool = _Actors(ray, with_names_of_this_process(task), order, reads or {}, need)
            yield from Scheduler(pool, parts, many, least, f"each takes {need}").run()

    @contextlib.contextmanager
    def connected(self, workers: int | None = None) -> Iterator[Any]:
        """Connect to the cluster for this block; an existing connection of the program is used and left open."""
        loopback = "ray" not in sys.modules or os.environ.get(LOOPBACK) == "0"
        if not self.address and loopback:
            os.environ[LOOPBACK] = "0"
        ray = _ray(QUIET if self.address else QUIET | OWN)
        if ray.is_initialized():
            yield ray
            return
        if not self.address and not loopback:
            raise SettingError(
                "Ray was imported before Steelyard could keep it to 127.0.0.1: call ray.init() first, or set "
                f"{LOOPBACK}=0 before Ray is imported"
            )
        try:
            self._connect(ray, workers)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            where = f"the Ray cluster at {self.address}" if self.address else "Ray on this machine"
            message = " ".join(str(error).split())[:200]
            raise SettingError(
                f"cannot reach {where}: {message}; is it running ('ray status'), and is RAY_AUTH_MODE=token set here "
                "if it needs a token?"
            ) from None
        try:
            yield ray
        finally:
            ray.shutdown()

    def _connect(self, ray: Any, workers: int | None) -> None:
        options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        if self.address:
            _reach(self.address)
            ray.init(address=self.address, **options)
            return
        cpus = max(usable_cores(), workers or 1)
        options |= {"include_dashboard": False, "object_store_memory": STORE, "num_cpus": cpus}
        ray.init(address="local", **options)


class _Actor:
    def __init__(self, pool: _Actors) -> None:
        self.pool, self.actor = pool, pool.kind.remote()
        self.pending = self.actor.start.remote(__version__, pool.reads, bool(pool.need.gpus))

    def give(self, part: Any) -> None:
        self.pending = self.actor.do.remote(self.pool.task, self.pool.order, part)

    def result(self) -> Any:
        from ray.exceptions import RayError

        try:
            return self.pool.ray.get(self.pending)
        except RayError as error:
            raise DiedError(" ".join(str(error).split())[:300]) from None

    def stop(self) -> None:
        with contextlib.suppress(Exception):  # it is gone already, or Ray is
            self.pool.ray.kill(self.actor)


class _Actors:
    def __init__(
        self, ray: Any, task: Callable[[Any, Any], Any], order: Any, reads: Mapping[str, str], need: Need
    ) -> None:
        self.ray, self.task, self.order, self.reads, self.need = ray, task, order, dict(reads), need
        options = {"num_cpus": need.cpus, "num_gpus": need.gpus, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        self.kind = ray.remote(_worker_class()).options(**options)

    def start(self) -> _Actor:
        return _Actor(self)

    def wait(self, workers: Sequence[_Actor], seconds: float) -> list[_Actor]:
        by_result = {worker.pending: worker for worker in workers}
        ready, _ = self.ray.wait(list(by_result), num_returns=1, timeout=seconds)
        return [by_result[result] for result in ready]


def _worker_class() -> type:
    """The class of the workers. It is made here, so that it travels whole: a machine may have another Steelyard."""

    class SteelyardWorker:
        def start(self, version: str, reads: dict[str, str], gpus: bool) -> str | None:
            import os
            import socket

            os.environ.setdefault("POLARS_MAX_THREADS", "1")  # before polars is imported
            if not gpus:  # Ray has named those of a worker that has some; the others must not meet on the first one
                os.environ["CUDA_VISIBLE_DEVICES"] = ""
            where = socket.gethostname()
            try:
                from steelyard.engine.worker import refusal
            except ImportError as error:
                return (
                    f"the worker on {where} cannot import the Steelyard of this command ({error}): "
                    f"install {version} on every machine"
                )
            return refusal(where, version, reads)

        def do(self, task: Any, order: Any, part: Any) -> tuple[bool, Any]:
            from steelyard.engine.worker import attempt

            return attempt(task, order, part)

    return SteelyardWorker


def _reach(address: str) -> None:
    """Raise an OSError if HOST:PORT does not answer; Ray itself would try for minutes. `auto` is left to Ray."""
    host, separator, port = address.rpartition(":")
    if separator and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), REACH).close()


def _ray(settings: Mapping[str, str]) -> Any:
    """Ray, which reads its settings when it is imported."""
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise SettingError("Ray is not installed: pip install 'steelyard[ray]'") from None
    return ray
