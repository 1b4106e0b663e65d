"""Can an engine do the work: versions on all nodes, their GPUs, the folder that they share, and their ports."""

from __future__ import annotations

import os
import platform
import re
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steelyard.cli.diagnosis import BAD, GOOD, NOTE, Finding
from steelyard.engine.engines import engine_of
from steelyard.engine.process_engine import ProcessEngine
from steelyard.engine.ray_cluster import counted
from steelyard.engine.ray_engine import RayEngine
from steelyard.foundation.errors import SteelyardError
from steelyard.foundation.version import __version__
from steelyard.runs.lock import STORAGE
from steelyard.runs.part_folders import check_storage

PATIENCE = 60.0  # seconds for a node to answer
REACH = 5.0  # seconds for a port to answer
FENCE = "restrict them to the nodes: docs/scale.md explains how"
GUARD = "give it a token (RAY_AUTH_MODE=token), and "


def look(engine: str, folder: Path) -> list[Finding]:
    """What is found about an engine, and about the folder that its workers are to share."""
    chosen = engine_of(engine)
    findings = [_storage(folder)]
    if isinstance(chosen, RayEngine):
        try:
            with chosen.connected() as ray:
                findings += _cluster(ray, folder)
        except SteelyardError as error:
            problem, _, fix = str(error).partition(": ")
            findings.append(Finding("ray", BAD, problem, fix))
    elif isinstance(chosen, ProcessEngine):
        findings.append(Finding("engine", GOOD, f"{chosen.workers} processes of this machine"))
    return findings


def _storage(folder: Path) -> Finding:
    """Whether a folder can hold a run in parts, seen from here."""
    there = next((parent for parent in (folder, *folder.resolve().parents) if parent.is_dir()), Path("/"))
    try:
        check_storage(there)
    except SteelyardError as error:
        problem, _, fix = str(error).rpartition(": ")
        return Finding("folder", BAD, problem, fix)
    return Finding("folder", GOOD, f"{there.resolve()}: renaming a folder is atomic, and a lock is exclusive")


def _cluster(ray: Any, folder: Path) -> Iterator[Finding]:
    nodes = [node for node in ray.nodes() if node["Alive"]]
    resources = ray.cluster_resources()
    there_are = ((len(nodes), "node"), *((resources.get(name, 0), name) for name in ("CPU", "GPU")))
    yield Finding("ray", GOOD, ", ".join([f"Ray {ray.__version__}", *(counted(*amount) for amount in there_are)]))
    there = next(parent for parent in (folder.resolve(), *folder.resolve().parents) if parent.is_dir())
    mark = f".doctor-{uuid.uuid4().hex}"
    replies = _probe_nodes(ray, nodes, str(there / mark))
    try:
        for node, answer in zip(nodes, replies, strict=True):
            yield from _node(node, answer, there, f"{mark}-{node['NodeID']}", ray.__version__)
    finally:
        for path in there.glob(f"{mark}*"):
            path.unlink(missing_ok=True)
    yield _ports(nodes)


def _probe_nodes(ray: Any, nodes: list[dict[str, Any]], mark: str) -> list[dict[str, Any] | str]:
    """What every node says of itself, or why it says nothing."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    probe = ray.remote(_probe())
    under_way = []
    for node in nodes:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        node_probe = probe.options(num_cpus=0, max_retries=0, scheduling_strategy=there)
        under_way.append(node_probe.remote(f"{mark}-{node['NodeID']}"))
    ready, _ = ray.wait(under_way, num_returns=len(under_way), timeout=PATIENCE)
    replies: list[dict[str, Any] | str] = []
    for task in under_way:
        try:
            replies.append(ray.get(task) if task in ready else f"it did not answer within {PATIENCE:.0f} s")
        except ray.exceptions.RayError as error:
            replies.append(" ".join(str(error).split())[-200:])
    return replies


def _node(
    node: dict[str, Any], answer: dict[str, Any] | str, folder: Path, mark: str, ray_version: str
) -> Iterator[Finding]:
    """What is found about one node."""
    where = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
    if isinstance(answer, str):
        yield Finding("node", BAD, f"{where}: {answer}", "check 'ray status', and restart the node")
        return
    expected = {"steelyard": __version__, "python": platform.python_version(), "ray": ray_version}
    versions = {name: str(answer[name] or "is not there") for name in expected}
    other = [f"{name} {versions[name]}" for name, here in expected.items() if not _alike(name, versions[name], here)]
    same = ", ".join(f"{name} {answer[name]}" for name in expected)
    if other:
        fix = f"install the same as here: {', '.join(f'{name} {value}' for name, value in expected.items())}"
        yield Finding("node", BAD, f"{where}: {', '.join(other)}", fix)
    else:
        yield Finding("node", GOOD, f"{where}: {same}, {counted(node['Resources'].get('CPU', 0), 'CPU')}")
    yield _gpus(where, int(node["Resources"].get("GPU", 0)), answer["gpus"])
    if answer["wrong"]:
        yield Finding("folder", BAD, f"{where}: {folder}: {answer['wrong']}", STORAGE)
    elif not (folder / mark).exists():
        fix = "name a folder with -o that all nodes mount at the same path"
        yield Finding("folder", BAD, f"{where}: files that it writes to {folder} are not visible here", fix)
    else:
        yield Finding("folder", GOOD, f"{where}: files that it writes to {folder} are visible here")


def _alike(name: str, there: str, here: str) -> bool:
    """Whether two versions go together; the last figure of Python's may differ."""
    return there.split(".")[:2] == here.split(".")[:2] if name == "python" else there == here


def _gpus(where: str, counted: int, seen: list[str]) -> Finding:
    """The GPUs that Ray gives out, beside those that nvidia-smi sees."""
    if counted != len(seen) and (counted or seen):
        fix = f"start the node with 'ray start --num-gpus {len(seen)}'"
        return Finding("gpu", BAD, f"{where}: Ray offers {counted} GPUs, but nvidia-smi finds {len(seen)}", fix)
    if not seen:
        return Finding("gpu", NOTE, f"{where}: none", "--gpus-per-worker needs some; a verifier on a server does not")
    return Finding("gpu", GOOD, f"{where}: {counted} x {seen[0]}")


def _ports(nodes: list[dict[str, Any]]) -> Finding:
    """Whether the nodes are reached from here, and who else may reach them."""
    addresses = [(str(node["NodeManagerAddress"]), int(node["NodeManagerPort"])) for node in nodes]
    for host, port in addresses:
        try:
            socket.create_connection((host, port), REACH).close()
        except OSError as error:
            fix = "let the nodes reach each other: docs/scale.md lists the ports"
            return Finding("ports", BAD, f"{host}:{port} cannot be reached from here ({error})", fix)
    listed = ", ".join(f"{host}:{port}" for host, port in addresses)
    if all(re.match(r"127\.|::1", host) for host, _ in addresses):
        return Finding("ports", GOOD, f"{listed}: reachable from this machine only")
    guarded = os.environ.get("RAY_AUTH_MODE") == "token"
    who, fix = ("anyone with its token", FENCE) if guarded else ("anyone", GUARD + FENCE)
    return Finding("ports", NOTE, f"{listed} are reachable from here, and Ray lets {who} run code there", fix)


def _probe() -> Any:
    """What a node is asked. It is made here, so that it travels whole: the node may have no Steelyard."""

    def probe(mark: str) -> dict[str, Any]:
        import fcntl
        import os
        import platform
        import shutil
        import subprocess

        report: dict[str, Any] = {"python": platform.python_version(), "gpus": [], "wrong": ""}
        for name in ("steelyard", "ray"):
            try:
                report[name] = __import__(name).__version__
            except ImportError:
                report[name] = None
        smi = shutil.which("nvidia-smi")
        if smi:
            listing = subprocess.run([smi, "-L"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
            report["gpus"] = [line.split(": ", 1)[-1].split(" (")[0] for line in listing.stdout.splitlines() if line]
        try:
            handle = os.open(f"{mark}.new", os.O_RDWR | os.O_CREAT, 0o666)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(handle)
            os.rename(f"{mark}.new", mark)
        except OSError as error:
            report["wrong"] = str(error.strerror or error)
        return report

    return probe
