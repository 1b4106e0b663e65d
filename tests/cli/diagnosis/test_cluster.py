"""steelyard doctor --engine: what is found about nodes, and how to mend it."""

from __future__ import annotations

import platform
import socket
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.diagnosis import cluster
from steelyard.foundation.version import __version__
from tests.running import steelyard

ANSWER = {"steelyard": __version__, "python": platform.python_version(), "ray": "2.60.0", "gpus": [], "wrong": ""}


def node(**resources: float) -> dict[str, Any]:
    about = {"NodeManagerHostname": "n7", "NodeManagerAddress": "127.0.0.1", "NodeManagerPort": 1}
    return {**about, "Resources": {"CPU": 4.0, **resources}}


def found(folder: Path, answer: dict[str, Any] | str, **resources: float) -> dict[str, tuple[str, str]]:
    findings = cluster._node(node(**resources), answer, folder, "mark", "2.60.0")
    return {finding.name: (finding.status, f"{finding.found} -> {finding.fix}") for finding in findings}


def test_a_node_that_is_as_this_machine_and_sees_the_folder_is_well(tmp_path: Path) -> None:
    (tmp_path / "mark").touch()
    said = found(tmp_path, {**ANSWER, "gpus": ["NVIDIA H200"]}, GPU=1.0)
    assert {status for status, _ in said.values()} == {"ok"}
    assert "1 x NVIDIA H200" in said["gpu"][1]


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("node", {"steelyard": "0.0.1"}, f"steelyard 0.0.1 -> install the same as here: steelyard {__version__}"),
        ("node", {"steelyard": None}, "steelyard is not there -> install"),
        ("node", {"python": "3.1.2"}, "python 3.1.2 -> install"),
        ("gpu", {"gpus": ["A", "A"]}, "Ray offers 0 GPUs, but nvidia-smi finds 2 -> start the node with 'ray start"),
        ("folder", {"wrong": "Read-only file system"}, "Read-only file system -> a run needs a file system"),
        ("folder", {}, "are not visible here -> name a folder with -o that all nodes mount"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_node_is_red_and_says_how_to_mend_it(
    tmp_path: Path, name: str, changed: dict[str, Any], said: str
) -> None:
    status, text = found(tmp_path, ANSWER | changed)[name]
    assert status == "red"
    assert said in text


def test_a_node_that_does_not_answer_is_red(tmp_path: Path) -> None:
    assert found(tmp_path, "it did not answer in 60 s")["node"][0] == "red"


def test_a_port_that_cannot_be_reached_is_red() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # nobody listens there
        assert cluster._ports([node() | {"NodeManagerPort": port}]).status == "red"
        taken.listen()
        assert cluster._ports([node() | {"NodeManagerPort": port}]).status == "ok"


def test_processes_of_this_machine_need_a_folder_and_nothing_else(tmp_path: Path) -> None:
    done = steelyard("doctor", "--engine", "processes:2", "-o", tmp_path)
    assert done.code == 0
    assert "2 processes of this machine" in done.out
    assert "a lock is exclusive" in done.out
