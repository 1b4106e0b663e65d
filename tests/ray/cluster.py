"""A Ray cluster of two nodes on this machine, and the processes in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STORE = 100 << 20
LISTENING = """# to Ctrl-C, whatever the tests were started by
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
from steelyard.__main__ import main; main()
"""


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Start two nodes with one CPU each beside the head."""
    with only_a_head() as cluster:
        cluster.nodes = [add_node(cluster) for _ in range(2)]
        yield cluster


@contextmanager
def only_a_head() -> Iterator[Any]:
    """Start a head without CPUs; `cluster.address` is what --engine ray: takes."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    )
    try:
        yield cluster
    finally:
        cluster.shutdown()


def command(*words: object, first: str = "") -> subprocess.Popen[str]:
    """Start `steelyard WORDS`; a program may do something `first`."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", first + LISTENING, *map(str, words)], **pipes)


def add_node(cluster: Any, cpus: int = 1, gpus: int = 0) -> Any:
    return cluster.add_node(num_cpus=cpus, num_gpus=gpus, object_store_memory=STORE)


def workers(of: int | None = None) -> list[int]:
    """The processes of Steelyard's workers in the clusters that a process has started."""
    found = descendants(of or os.getpid())
    return [process for process in found if "SteelyardWorker" in _command(process)]


def descendants(process: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(status.parent.name))
    found = list(parents.get(process, []))
    for each in found:
        found += parents.get(each, [])
    return found


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""
