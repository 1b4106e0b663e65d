"""Inspect archives are opened once, however many samples they have, and never unpacked beyond a limit."""

from __future__ import annotations

import json
import struct
import sys
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from steelyard.tables.sources import eval_archives
from steelyard.tables.sources.unpacking import largest_content
from tests.memory import measured
from tests.tables.layouts.golden import GOLDEN, refusal, table

EVAL = GOLDEN / "inspect_log" / "sums.eval"
DEFLATED, ZSTANDARD = 8, 93
BLOCK = 128 << 10
READ = """
import sys
import steelyard as sy
try:
    sy.read(sys.argv[1], score="none")
except sy.TableError as error:
    print(error)
"""


class Member(NamedTuple):
    """A member of an archive, with whatever it declares about itself."""

    name: str
    method: int
    packed: bytes
    size: int
    checksum: int = 0
    packed_size: int | None = None


def sample(i: int) -> dict[str, Any]:
    message = {"message": {"content": f"ANSWER: {i}"}, "stop_reason": "stop"}
    return {"id": f"q{i}", "epoch": 1, "input": f"What is {i}?", "target": str(i), "output": {"choices": [message]}}


def archive_of(path: Path, members: list[Member]) -> Path:
    """Write a zip archive as declared; zipfile would neither lie nor write Zstandard."""
    local, central = BytesIO(), BytesIO()
    for name, method, packed, size, checksum, packed_size in members:
        fields = (20, 0, method, 0, 0, checksum, len(packed) if packed_size is None else packed_size, size, len(name))
        central.write(struct.pack("<4sH5H3I5H2I", b"PK\x01\x02", 20, *fields[:9], 0, 0, 0, 0, 0, local.tell()))
        central.write(name.encode())
        local.write(struct.pack("<4s5H3I2H", b"PK\x03\x04", *fields, 0) + name.encode() + packed)
    directory, number = central.getvalue(), len(members)
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, number, number, len(directory), local.tell(), 0)
    path.write_bytes(local.getvalue() + directory + end)
    return path


def zstandard(content: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return packed


def repeated_blocks(count: int) -> bytes:
    """A Zstandard frame of four bytes per 128 KB of spaces, which declares no size."""
    block = (BLOCK << 3 | 1 << 1).to_bytes(3, "little") + b" "
    last = (BLOCK << 3 | 1 << 1 | 1).to_bytes(3, "little") + b" "
    return b"\x28\xb5\x2f\xfd\x00\x38" + block * (count - 1) + last


def flushed(content: bytes) -> bytes:
    """A part of a deflate stream that can be repeated: it refers to nothing before it."""
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(content) + deflate.flush(zlib.Z_FULL_FLUSH)


def memory_of_reading(path: Path) -> tuple[str, int]:
    """The message with which another process refuses a file, and the peak memory of that process in MB."""
    done = measured(READ, path)
    assert done.code == 0, done.err
    return done.out.strip(), done.peak


def test_an_archive_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    class Counted(zipfile.ZipFile):
        def __init__(self, path: Path) -> None:
            opened.append(path)
            super().__init__(path)

    monkeypatch.setattr(eval_archives, "ZipFile", Counted)
    contents = [(f"samples/q{i}_epoch_1.json", json.dumps(sample(i)).encode()) for i in range(1_000)]
    members = [Member(name, ZSTANDARD, zstandard(text), len(text), zlib.crc32(text)) for name, text in contents]
    _, samples = eval_archives.archived_log(archive_of(tmp_path / "many.eval", members))
    assert [one["id"] for one in samples] == [f"q{i}" for i in range(1_000)]
    assert len(opened) == 1


def test_epochs_are_in_their_order_whatever_the_order_of_the_members(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "back.eval", "w") as archive:
        for epoch in (3, 1, 2):
            text = json.dumps(
                sample(7) | {"epoch": epoch, "output": {"choices": [{"message": {"content": f"{epoch}"}}]}}
            )
            archive.writestr(f"samples/q7_epoch_{epoch}.json", text)
    assert table(tmp_path / "back.eval")["response"].to_list() == ["1", "2", "3"]


@pytest.mark.parametrize("declared", [100, 200 << 20, 3 << 30])
def test_a_member_that_lies_about_its_size_takes_no_memory(tmp_path: Path, declared: int) -> None:
    bomb = repeated_blocks(20_000)  # 80 KB that unpack to 2.6 GB
    path = archive_of(tmp_path / "bomb.eval", [Member("samples/q_epoch_1.json", ZSTANDARD, bomb, declared)])
    message, memory = memory_of_reading(path)
    assert message.count("\n") == 0
    assert "bomb.eval" in message
    assert "more than 256 MB" in message or "more than 1,024 MB" in message
    assert memory < 600


def test_a_deflated_member_is_not_unpacked_beyond_its_declared_size(tmp_path: Path) -> None:
    text = json.dumps(sample(1)).encode()
    bomb = flushed(text) + flushed(bytes(1 << 20)) * 1_000  # 1 MB that unpacks to 1 GB
    member = Member("samples/q_epoch_1.json", DEFLATED, bomb, len(text), zlib.crc32(text))
    message, memory = memory_of_reading(archive_of(tmp_path / "bomb.eval", [member]))
    assert "bomb.eval, samples/q_epoch_1.json cannot be read (its size or checksum is wrong)" in message
    assert memory < 600


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.eval", "w") as archive:
        archive.writestr("samples/q_epoch_1.json", json.dumps(sample(1)))
    content = bytearray((tmp_path / "t.eval").read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1  # the flag of encryption
    (tmp_path / "t.eval").write_bytes(content)
    assert "samples/q_epoch_1.json cannot be read" in refusal(tmp_path / "t.eval")


def test_members_that_declare_too_little_or_too_much_are_refused(tmp_path: Path) -> None:
    text = json.dumps(sample(1)).encode()
    deflate = zlib.compressobj(wbits=-15)
    deflated = deflate.compress(text + b" " * 1_000_000) + deflate.flush()
    name = "samples/q_epoch_1.json"
    for i, member in enumerate(
        [
            Member(name, DEFLATED, deflated, 1_000, zlib.crc32(text)),
            Member(name, ZSTANDARD, zstandard(text), len(text) - 1, zlib.crc32(text)),
            Member(name, ZSTANDARD, zstandard(text), len(text), zlib.crc32(text), 1 << 30),
            Member(name, ZSTANDARD, zstandard(text)[:-3], len(text), zlib.crc32(text)),
            Member(name, ZSTANDARD, b"no frame", len(text), zlib.crc32(text)),
            Member(name, 14, text, len(text), zlib.crc32(text)),  # LZMA
        ]
    ):
        path = archive_of(tmp_path / f"{i}.eval", [member])
        assert f"{i}.eval, {name} cannot be read" in refusal(path)


def test_an_archive_of_many_large_members_is_refused_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval_archives, "LARGEST", 50_000)
    monkeypatch.setattr(eval_archives, "LARGEST_RATIO", 2)
    with zipfile.ZipFile(tmp_path / "many.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(10):
            archive.writestr(f"samples/q{i}_epoch_1.json", json.dumps(sample(i) | {"events": ["x" * 10_000]}))
    assert "many.eval unpacks to more than" in refusal(tmp_path / "many.eval")


def test_the_most_that_a_frame_unpacks_to_is_read_off_its_blocks() -> None:
    for content in (b"", b"abc", b"x" * 300_000, bytes(range(256)) * 5_000):
        packed = zstandard(content)
        assert len(content) <= largest_content(BytesIO(packed)) <= len(content) + BLOCK
        skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
        assert largest_content(BytesIO(packed + skipped + packed)) == 2 * largest_content(BytesIO(packed))
    assert largest_content(BytesIO(repeated_blocks(20_000))) == 20_000 * BLOCK
    with pytest.raises(ValueError, match="truncated"):
        largest_content(BytesIO(zstandard(b"abc" * 100)[:5]))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python unpacks Zstandard itself")
def test_a_packed_text_is_refused_before_polars_unpacks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow, polars unpacks: all of one line at once."""
    monkeypatch.setattr("steelyard.tables.sources.unpacking.find_spec", lambda _: None)
    (tmp_path / "t.jsonl.zst").write_bytes(repeated_blocks(20_000))
    assert "t.jsonl.zst may unpack to more than 1,024 MB" in refusal(tmp_path / "t.jsonl.zst")
