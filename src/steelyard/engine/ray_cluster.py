"""The number of workers that fit on a Ray cluster, and the warning if that is fewer than requested."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.foundation.errors import SettingError, SteelyardWarning

NEAR = 1e-9  # ten times 0.1 GPUs are one


@dataclass(frozen=True)
class Need:
    """The resources of one worker on its node. A fraction of a GPU is one of a single GPU, which workers share."""

    cpus: float
    gpus: float

    def __str__(self) -> str:
        """The resources, as a message names them.

        >>> str(Need(1, 0.5)), str(Need(2, 0))
        ('1 CPU and 0.5 GPUs', '2 CPUs')
        """
        return counted(self.cpus, "CPU") + (f" and {counted(self.gpus, 'GPU')}" if self.gpus else "")

    def fits(self, node: Mapping[str, float]) -> int:
        """How many workers have room on a node with these resources.

        >>> Need(1, 0.3).fits({"CPU": 8, "GPU": 2}), Need(1, 2).fits({"CPU": 8, "GPU": 3})
        (6, 1)
        """
        by_cpu = node.get("CPU", 0) / self.cpus if self.cpus else float("inf")
        gpus = node.get("GPU", 0)
        by_gpu = float("inf") if not self.gpus else gpus / self.gpus
        if 0 < self.gpus < 1:
            by_gpu = int(gpus) * int(1 / self.gpus + NEAR)
        fewest = min(by_cpu, by_gpu)
        return int(fewest + NEAR) if fewest != float("inf") else 1


def nodes_of(ray: Any) -> list[dict[str, float]]:
    """The resources of every node that is alive."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def default_gpus(nodes: Sequence[Mapping[str, float]]) -> float:
    """The default number of GPUs of a worker with a model: one, if the cluster has any."""
    return 1 if any(node.get("GPU", 0) >= 1 for node in nodes) else 0


def workers_for(nodes: Sequence[Mapping[str, float]], need: Need, requested: int | None, *, grows: bool) -> int:
    """Return how many workers to request; warn if they do not fit now. No GPU at all is an error unless `grows`."""
    room = sum(need.fits(node) for node in nodes)
    resources = f"{counted(len(nodes), 'node')}, {_all(nodes, 'CPU')} and {_all(nodes, 'GPU')} in all"
    if not room and need.gpus and not grows:
        raise SettingError(
            f"each worker takes {need}, and no node of the Ray cluster has that ({resources}): add nodes that have "
            "GPUs ('ray start --num-gpus'), change --gpus-per-worker, or give a range as --workers 1:8 if Ray adds "
            "nodes"
        )
    if room < (requested or 1):
        warnings.warn(
            f"the Ray cluster has room for {room} of {requested or 1} workers now ({resources}; each worker takes "
            f"{need}): the work is done by those that fit, and the others start when there is room",
            SteelyardWarning,
            stacklevel=2,
        )
    return requested or max(1, room)


def _all(nodes: Sequence[Mapping[str, float]], name: str) -> str:
    return counted(sum(node.get(name, 0) for node in nodes), name)


def counted(number: float, name: str) -> str:
    """A number of things.

    >>> counted(1, "GPU"), counted(0.5, "GPU")
    ('1 GPU', '0.5 GPUs')
    """
    return f"{number:g} {name}{'s' * (number != 1)}"
