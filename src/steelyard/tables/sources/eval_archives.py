"""Logs that Inspect writes as a zip archive: header.json, samples/*.json; newer ones are packed with Zstandard."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import polars as pl

from steelyard.errors import TableError
from steelyard.tables.sources.damage import DAMAGE
from steelyard.tables.sources.json_lines import DEEPEST, is_deep, tamed

ZSTANDARD = 93  # the method's number; zipfile reads it from Python 3.14 on
SAMPLE = re.compile(r"samples/.+_epoch_\d+(/sample)?\.json")  # a very long sample is a folder with sample.json in it
LARGEST = 1 << 30  # bytes of one sample
LOCAL_HEADER = struct.Struct("<26xHH")  # where the lengths of the name and of the extra field stand


def archived_log(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return the header of a log and its samples, one at a time."""
    try:
        with ZipFile(path) as archive:
            members = archive.infolist()
    except (BadZipFile, OSError, ValueError) as error:
        raise TableError(f"{path} cannot be read as a zip archive ({error}): write the log again") from None
    samples = [each for each in members if SAMPLE.fullmatch(each.filename)]
    if not samples:
        raise TableError(f"{path} holds no samples: run the evaluation with log_samples")
    start = ("header.json", "_journal/start.json")  # a log that was not finished has only the second
    headers = [each for name in start for each in members if each.filename == name]
    header = _member(path, headers[0]) if headers else {}
    return header, (_member(path, each) for each in samples)


def _member(path: Path, member: ZipInfo) -> dict[str, Any]:
    where = f"{path}, {member.filename}"
    if member.file_size > LARGEST:
        raise TableError(f"{where} is larger than {LARGEST >> 20:,} MB: remove it from the log")
    try:
        content = _unpacked(path, member)
        if is_deep(content):
            raise TableError(f"{where} is nested more than {DEEPEST} deep: remove it from the log")
        value = tamed(json.loads(content))
    except (*DAMAGE, BadZipFile, zlib.error, struct.error, ValueError, RecursionError, NotImplementedError) as error:
        raise TableError(f"{where} cannot be read ({str(error)[:200]}): write the log again") from None
    if not isinstance(value, dict):
        raise TableError(f"{where} is no JSON object: write the log again")
    return value


def _unpacked(path: Path, member: ZipInfo) -> bytes:
    """The bytes of one file of the archive; those of Zstandard through polars, which has it, as one cell of a table."""
    if member.compress_type != ZSTANDARD:
        with ZipFile(path) as archive:
            return archive.read(member)
    with path.open("rb") as file:
        file.seek(member.header_offset)
        name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        file.seek(name + extra, 1)
        packed = file.read(member.compress_size)
    # No byte of JSON is one of these separators: in strings they are escaped.
    cells = pl.read_csv(
        BytesIO(packed), has_header=False, separator="\x1f", eol_char="\x1e", quote_char=None, infer_schema=False
    )
    content = str(cells.item()).encode()
    if zlib.crc32(content) != member.CRC:
        raise ValueError("its checksum is wrong")
    return content
