"""Parts on a server that speaks S3: a Ray cluster votes from there to there as one process does without it."""

from __future__ import annotations

import os
import signal
import urllib.request
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.engine.engines import engine_of
from steelyard.engine.vote_parts import vote_parts
from steelyard.foundation import store_connections
from steelyard.foundation.errors import RunError, StoreError
from steelyard.foundation.store_address import Address
from steelyard.runs.seal import sealed
from tests.engine.engines import Here
from tests.ray.cluster import two_nodes, workers
from tests.ray.s3 import SECRET, bucket, cutting
from tests.running import steelyard

PARTS = 12
TABLE = sy.simulate(120, 8, seed=3)


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    store_connections._store.cache_clear()
    with bucket("bucket") as url:
        sy.partition(TABLE, "s3://bucket/parts", PARTS)
        yield url
    store_connections._store.cache_clear()


@pytest.fixture
def plan(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    sy.LogitVote().fit(sy.read_labelled(sy.simulate(60, 8, seed=9))).save(path)
    return path


def decided(folder: str) -> pl.DataFrame:
    return pl.read_parquet([f"{folder}/part-{i:05d}.parquet" for i in range(PARTS)]).sort("question")


def test_a_cluster_whose_worker_is_killed_votes_from_a_bucket_to_a_bucket(s3: str, plan: Any) -> None:
    steps = []

    def disturb(share: float) -> None:
        steps.append(share)
        if len(steps) == 3:
            for process in workers():
                os.kill(process, signal.SIGKILL)

    with two_nodes() as cluster:  # whose processes know the way to the bucket
        engine = engine_of(f"ray:{cluster.address}")
        out = Address("s3://bucket/verdicts")
        vote_parts(Address("s3://bucket/parts"), out, engine, plan=plan, workers=2, progress=disturb)
    assert len(steps) == PARTS
    assert decided("s3://bucket/verdicts").equals(sy.vote(TABLE, plan).sort("question"))
    assert sy.read_answers("s3://bucket/verdicts").table.height == 120
    assert not any(SECRET.encode() in (out / name).read_bytes() for name in out.objects())


def test_a_bucket_that_is_not_there_is_one_line(s3: str, tmp_path: Any) -> None:
    TABLE.write_parquet(tmp_path / "t.parquet")
    for words in (
        ("partition", tmp_path / "t.parquet", "-o", "s3://none/parts", "--parts", 2),
        ("vote", "s3://none/parts"),
        ("vote", tmp_path / "t.parquet", "-o", "s3://none/v.parquet"),
    ):
        done = steelyard(*words)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert "there is no bucket or container none; make it, or name another" in done.err


def test_of_two_that_claim_a_folder_of_a_bucket_one_does(s3: str) -> None:
    assert Address("s3://bucket/claimed/parts.json").create(b"mine")
    assert not Address("s3://bucket/claimed/parts.json").create(b"yours")


def test_a_folder_that_a_console_has_made_is_empty(s3: str) -> None:
    urllib.request.urlopen(urllib.request.Request(f"{s3}/bucket/marked/", data=b"", method="PUT")).close()
    assert sum(sy.partition(TABLE, "s3://bucket/marked/", 2).rows) == TABLE.height


def test_an_upload_that_is_cut_off_is_never_seen_and_the_same_command_goes_on(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_connections, "PATIENCE", 2)
    out = Address("s3://bucket/cut")
    with cutting(s3) as proxy:
        store_connections._store.cache_clear()
        proxy.cut = "/cut/part-00002.parquet"
        with pytest.raises(RunError, match=r"1 of 12 parts failed \(part-00002: .* cannot be reached"):
            vote_parts(Address("s3://bucket/parts"), out, Here())
        assert proxy.cuts
        assert not {"part-00002.parquet", "part-00002.json"} & set(out.objects())
        proxy.cut = ""
        again = Here()
        vote_parts(Address("s3://bucket/parts"), out, again)
        assert again.asked == ["part-00002"]
        assert all(sealed(out / f"part-{i:05d}.parquet") for i in range(PARTS))
        proxy.cut = "/cut-parts/part-00001.parquet"
        with pytest.raises(StoreError, match=r"cut-parts/part-00001.parquet cannot be reached"):
            sy.partition(TABLE, "s3://bucket/cut-parts", 3)
        assert Address("s3://bucket/cut-parts").objects() == {}
    store_connections._store.cache_clear()
    assert decided("s3://bucket/cut").equals(sy.vote(TABLE).sort("question"))
