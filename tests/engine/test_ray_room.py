"""How many workers Ray is asked for, and what is said where fewer fit. Ray need not be installed."""

from __future__ import annotations

import warnings

import pytest

from steelyard.engine.ray_cluster import Need, default_gpus, workers_for
from steelyard.foundation.errors import SettingError, SteelyardWarning

NODES = [{"CPU": 8.0, "GPU": 2.0}, {"CPU": 8.0, "GPU": 1.0}, {"CPU": 4.0}]


ROOM = [(Need(1, 1), 3), (Need(1, 0.5), 6), (Need(1, 0.6), 3), (Need(4, 1), 3), (Need(1, 2), 1), (Need(1, 0), 20)]


@pytest.mark.parametrize(("need", "room"), ROOM)
def test_a_worker_fits_on_one_node_and_a_part_of_a_gpu_on_one_gpu(need: Need, room: int) -> None:
    assert workers_for(NODES, need, None, grows=False) == room


def test_what_does_not_fit_is_told_and_asked_for_as_nodes_may_come() -> None:
    match = r"room for 3 of 8 workers now \(3 nodes, 20 CPUs and 3 GPUs in all; each worker takes 1 CPU and 1 GPU\)"
    with pytest.warns(SteelyardWarning, match=match):
        assert workers_for(NODES, Need(1, 1), 8, grows=False) == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert workers_for(NODES, Need(1, 1), 3, grows=False) == 3


def test_gpus_that_no_node_has_are_an_error_unless_nodes_are_waited_for() -> None:
    for nodes, need in ((NODES[2:], Need(1, 1)), (NODES[1:], Need(1, 2)), (NODES, Need(9, 1))):
        with pytest.raises(SettingError, match="no node of the Ray cluster has that"):
            workers_for(nodes, need, 8, grows=False)
        with pytest.warns(SteelyardWarning, match="has room for 0 of 8 workers now"):
            assert workers_for(nodes, need, 8, grows=True) == 8


def test_no_room_for_cpus_is_waited_for_and_told() -> None:
    with pytest.warns(SteelyardWarning, match=r"has room for 0 of 1 workers now \(1 node, 0 CPUs and 0 GPUs in all"):
        assert workers_for([{}], Need(1, 0), None, grows=False) == 1


def test_a_model_has_one_gpu_where_there_are_any() -> None:
    assert default_gpus(NODES) == 1
    assert default_gpus(NODES[2:]) == 0
