"""An address does what a path does, through the library that reaches stores; here the store is the local disk."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from steelyard.foundation import store_address, store_connections
from steelyard.foundation.errors import SettingError, StoreError
from steelyard.foundation.store_address import Address, place_of
from steelyard.foundation.store_connections import open_store
from steelyard.runs.manifest import sha256_of
from steelyard.tables.writing import check_output
from tests.running import steelyard


@pytest.fixture
def folder(tmp_path: Path) -> Address:
    return Address(f"file://{tmp_path}/a b+ä")


def test_what_is_put_is_read_listed_and_removed(folder: Address) -> None:
    one = folder / "deep" / "one.json"
    assert (one.state(), one.is_file(), folder.objects()) == (None, False, {})
    with pytest.raises(FileNotFoundError):
        one.read_bytes()
    one.write_bytes(b"first")
    one.write_bytes(b"then")
    state = one.state()
    assert state is not None
    assert (one.read_bytes(), state.bytes, folder.objects()) == (b"then", 4, {"deep/one.json": state})
    one.remove()
    one.remove()
    assert not one.is_file()


def test_of_two_that_create_an_object_one_does_and_its_content_stays(folder: Address) -> None:
    assert (folder / "parts.json").create(b"mine")
    assert not (folder / "parts.json").create(b"yours")
    assert (folder / "parts.json").read_bytes() == b"mine"


def test_a_file_goes_there_and_back_in_pieces_and_its_tag_is_that_of_the_object(
    folder: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_address, "PIECE", 1000)
    (tmp_path / "here").write_bytes(bytes(range(250)) * 13)
    tag = (folder / "there").upload(tmp_path / "here")
    digest = (folder / "there").download(tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == (tmp_path / "here").read_bytes()
    assert digest == sha256_of(tmp_path / "here")
    assert (folder / "there").state() == (3250, tag)


@pytest.mark.parametrize(
    "text",
    [
        "s3://bucket/a%20b", "s3://bucket/part*", "file:///a/b#c", "gs://bucket/a\nb", "s3://bucket//parts",
        "s3://bucket/a/../b", "file:///a/./b",
    ],
)  # fmt: skip
def test_an_address_that_two_libraries_would_read_otherwise_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="which is refused in addresses: use another name"):
        place_of(text)


def test_what_is_not_installed_is_one_line_that_says_how_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    done = steelyard("vote", f"file://{tmp_path}/parts")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "pip install 'steelyard[remote]'" in done.err


def test_a_store_that_cannot_be_reached_is_one_line_without_keys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = "wJalrXUtnFEMI"
    monkeypatch.setattr(store_connections, "PATIENCE", 0)
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:1/{secret}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": secret,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    store_connections._store.cache_clear()
    with pytest.raises(
        StoreError, match=r"cannot be reached \(.*\): check the address, the network and .*AWS_\*"
    ) as told:
        Address("s3://bucket/parts/parts.json").read_bytes()
    assert secret not in str(told.value)
    assert "\n" not in str(told.value)
    (tmp_path / "t.csv").write_text("question,answer\nq,1\n")
    done = steelyard("partition", tmp_path / "t.csv", "-o", "s3://bucket/parts", "--parts", 2)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    store_connections._store.cache_clear()


def test_keys_that_are_refused_are_said_to_be() -> None:
    said = "Generic S3 error: Error performing list request: Server returned non-2xx status code: 403 Forbidden"
    told = store_connections._message("s3://box/a", "s3", ValueError(said))
    assert told.startswith("s3://box/a is refused with these credentials: set the variables AWS_*")


def test_a_store_that_cannot_put_only_where_there_is_none_is_said_to_be_one() -> None:
    with pytest.raises(StoreError, match="without conditional puts"), open_store("s3://box/a"):
        raise NotImplementedError


def test_a_signature_in_an_address_is_not_repeated() -> None:
    told = store_connections._message(
        "az://box/a", "az", ValueError("GET https://x.net/a?sig=SECRET&se=1 failed\nDebug: ?sig=SECRET")
    )
    assert "SECRET" not in told
    assert "AZURE_*" in told


def test_a_place_that_cannot_be_written_to_is_one_line() -> None:
    with pytest.raises(
        StoreError, match=r"file:///proc/nowhere/x cannot be reached \(.*\): check that it may be read and"
    ):
        Address("file:///proc/nowhere/x").write_bytes(b"")


def test_a_bucket_that_is_not_there_is_said_where_an_object_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoBucket:
        def head(self, key: str) -> None:
            raise FileNotFoundError("404 Not Found: ")  # to which S3 adds no word

        def get(self, key: str) -> None:
            raise FileNotFoundError("404 Not Found: <Error><Code>NoSuchBucket</Code></Error>")

    monkeypatch.setattr(store_connections, "_store", lambda *_: NoBucket())
    with pytest.raises(StoreError, match="there is no bucket or container box; make it, or name another"):
        check_output("s3://box/verdicts.parquet", overwrite=True)


def test_an_address_alone_is_no_folder_here_and_neither_is_one_of_an_unknown_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("question,answer\nq,1\n")
    for output in ("s3://", "S3://bucket/parts", "https://host/parts", "file:///"):
        done = steelyard("partition", "t.csv", "-o", output, "--parts", 2)
        assert (done.code, done.err.count("\n")) == (2, 1), output
        assert "it is an address with an unknown scheme; use one of the schemes s3, " in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
