"""steelyard doctor --engine on a real cluster."""

from __future__ import annotations

import json
from pathlib import Path

from tests.ray.cluster import two_nodes
from tests.running import steelyard


def test_every_node_is_looked_at_and_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    with two_nodes() as cluster:
        done = steelyard("doctor", "--engine", f"ray:{cluster.address}", "-o", tmp_path, "--json")
    checks = json.loads(done.out)["checks"]
    names = [check["name"] for check in checks if check["status"] == "ok"]
    assert done.code == 0, done.out
    assert names.count("node") == 3  # the head, too
    assert names.count("folder") == 1 + 3
    assert "ports" in [check["name"] for check in checks]  # green, or a note where others may reach them
    assert not list(tmp_path.iterdir())


def test_a_cluster_that_is_not_there_is_one_red_line(tmp_path: Path) -> None:
    done = steelyard("doctor", "--engine", "ray:127.0.0.1:1", "-o", tmp_path, "--json")
    assert done.code == 1
    (red,) = [check for check in json.loads(done.out)["checks"] if check["status"] == "red"]
    assert "cannot reach the Ray cluster at 127.0.0.1:1" in red["found"]
