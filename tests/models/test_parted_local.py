"""A model in every worker: the parts of a run have the scores of one process, and a worker loads its model once."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import torch

from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.runners import local
from tests.engine.engines import Here
from tests.engine.in_process import engine
from tests.engine.test_parted_generate import generated, table
from tests.models import tiny
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for
from tests.upstreams import FaultUpstream

__all__ = ["engine"]


@pytest.mark.usefixtures("key")
def test_parts_that_are_scored_by_a_model_have_the_scores_of_one_run(
    upstream: FaultUpstream, tmp_path: Path, engine: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, questions = tiny.qwen_prm(tmp_path / "model"), ask_for(tmp_path, 6)
    loaded: list[str] = []
    plain = local.Local.__init__

    def counted(self: local.Local, *given: object, **more: object) -> None:
        loaded.append("model")
        plain(self, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(local.Local, "__init__", counted)
    scores = []
    for name, words in {"plain": (), "run": ("--engine", "ray")}.items():
        parts = ("--parts", "3") if words else ()
        assert generated(upstream, questions, tmp_path / name, "m", *words, *parts).code == 0
        scoring = ("score", tmp_path / name, "--verifier", "qwen-prm", "--local", "--model", model, "--json", *words)
        done = steelyard(*scoring)
        assert done.code == 0, done.err
        assert json.loads(done.out)["new"] == 12
        scores.append(table(tmp_path / name)["qwen-prm"].explode().to_list())
    assert len(engine.asked) == 6  # three parts, sampled and scored
    assert loaded == ["model"] * 2  # one for all parts
    assert scores[1] == pytest.approx(scores[0], abs=1e-4)
    assert pl.Series(scores[0]).n_unique() > 1


class Placed(Exception):
    """Where a model goes, before it would go there."""


def test_a_model_goes_to_the_first_gpu_that_its_worker_sees_which_is_the_one_that_ray_gave_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Trunk:
        def to(self, device: torch.device) -> None:
            raise Placed(device.type, device.index or 0)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(local, "_trunk", lambda folder, dtype: Trunk())
    protocol, _ = find_verifier("qwen-prm")
    assert isinstance(protocol, TokenProtocol)
    with pytest.raises(Placed) as placed:
        local.Local(protocol, str(tiny.qwen_prm(tmp_path / "model")))
    assert placed.value.args == ("cuda", 0)
