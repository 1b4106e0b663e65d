"""Inspect logs in a zip archive: header.json and samples/*.json; newer logs are compressed with Zstandard.

The archive is opened once and its samples are read one at a time. The declared size of a member
is never trusted: nothing is unpacked beyond the limits.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from copy import copy
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.tables.sources.file_checks import DAMAGE
from steelyard.tables.sources.json_lines import DEEPEST, is_deep, storable
from steelyard.tables.sources.unpacking import LARGEST, LARGEST_RATIO, largest_content

ZSTANDARD = 93  # compression method; zipfile supports it from Python 3.14 on
SAMPLE = re.compile(r"samples/.+_epoch_\d+(/sample)?\.json")  # a very long sample is a folder with sample.json in it
LARGEST_SAMPLE = 1 << 28  # bytes
BROKEN = (*DAMAGE, BadZipFile, zlib.error, struct.error, ValueError, RuntimeError, EOFError)


def archived_log(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return the header of a log and its samples, one at a time."""
    try:
        archive = ZipFile(path)
        members = archive.infolist()
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise TableError(f"{path} cannot be read as a zip archive ({error}): write the log again") from None
    samples = [member for member in members if SAMPLE.fullmatch(member.filename)]
    start = ("header.json", "_journal/start.json")  # an unfinished log has only the second
    headers = [member for name in start for member in members if member.filename == name]
    size = path.stat().st_size
    try:
        if not samples:
            raise TableError(f"{path} contains no samples: run the evaluation with log_samples")
        header = _member(archive, path, size, headers[0]) if headers else {}
    except TableError:
        archive.close()
        raise
    return header, _samples(archive, path, size, samples)


def _samples(archive: ZipFile, path: Path, size: int, members: list[ZipInfo]) -> Iterator[dict[str, Any]]:
    """Yield the samples of an archive of `size` bytes, within the limit on the unpacked size of any file."""
    limit = max(LARGEST, LARGEST_RATIO * size)
    unpacked = 0
    with archive:
        for member in members:
            unpacked += member.file_size  # _unpacked refuses a member that is larger
            if unpacked > limit:
                raise TableError(f"{path} unpacks to more than {limit >> 20:,} MB: unpack it yourself, if you trust it")
            yield _member(archive, path, size, member)


def _member(archive: ZipFile, path: Path, size: int, member: ZipInfo) -> dict[str, Any]:
    location = f"{path}, {member.filename}"
    if member.file_size > LARGEST_SAMPLE:
        raise TableError(f"{location} is larger than {LARGEST_SAMPLE >> 20:,} MB: remove it from the log")
    try:
        if member.compress_size > min(size, LARGEST_SAMPLE):
            raise ValueError("its declared compressed size is too large")
        content = _unpacked(archive, member)
        if is_deep(content):
            raise TableError(f"{location} is nested more than {DEEPEST} deep: remove it from the log")
        value = storable(json.loads(content))
    except BROKEN as error:
        raise TableError(f"{location} cannot be read ({str(error)[:200]}): write the log again") from None
    if not isinstance(value, dict):
        raise TableError(f"{location} is not a JSON object: write the log again")
    return value


def _unpacked(archive: ZipFile, member: ZipInfo) -> bytes:
    """Return the content of a member after checking its declared size and checksum.

    zipfile is used only for the compressed bytes: it may unpack a gigabyte before it checks the declared size.
    """
    raw = copy(member)
    raw.compress_type, raw.file_size = ZIP_STORED, member.compress_size
    raw.CRC = None  # type: ignore[assignment]  # the checksum is that of the content
    packed = archive.read(raw)
    if member.compress_type == ZIP_STORED:
        content = packed
    elif member.compress_type == ZIP_DEFLATED:
        content = zlib.decompressobj(wbits=-zlib.MAX_WBITS).decompress(packed, member.file_size + 1)
    elif member.compress_type == ZSTANDARD:
        content = _unpacked_zstandard(packed)
    else:
        raise ValueError("its compression method is not one that Inspect uses")
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise ValueError("its size or checksum is wrong")
    return content


def _unpacked_zstandard(packed: bytes) -> bytes:
    """Unpack with polars, as a table of one cell."""
    if largest_content(BytesIO(packed)) > LARGEST_SAMPLE:
        raise ValueError(f"it may unpack to more than {LARGEST_SAMPLE >> 20:,} MB, regardless of its declared size")
    # JSON never contains these separators: they are escaped in strings.
    cells = pl.read_csv(
        BytesIO(packed), has_header=False, separator="\x1f", eol_char="\x1e", quote_char=None, infer_schema=False
    )
    return str(cells.item()).encode()
