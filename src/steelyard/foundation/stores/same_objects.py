"""Whether an object is among those that are read, by whatever name these are called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from steelyard.foundation.files import address_of
from steelyard.foundation.stores.address import Address

SPELLINGS = {"s3a": "s3", "gcs": "gs", "abfss": "abfs"}  # two names of one store
PART = re.compile(r"part-\d{5}\.parquet")


def is_one_of(target: Address, sources: Iterable[Any]) -> bool:
    """Whether an object is a source, one of those that match a pattern, or a part of a folder of parts.

    >>> table = Address("s3://bucket/parts/part-00001.parquet")
    >>> [is_one_of(table, [source]) for source in ("s3a://bucket/parts/", "s3://bucket/*/*.parquet", "s3://bucket/part")]
    [True, True, False]
    """
    return any(_is_one(_spelled(str(target)), each) for each in sources)


def _is_one(target: str, source: Any) -> bool:
    if isinstance(source, list | tuple):
        return any(_is_one(target, each) for each in source)
    address = address_of(source)
    if address is None:
        return False
    source = _spelled(address)
    folder, _, name = target.rpartition("/")
    return (
        target == source
        or (folder == source and PART.fullmatch(name) is not None)
        or fnmatchcase(target, source.replace("**/", "*"))
    )


def _spelled(address: str) -> str:
    scheme, _, rest = address.rstrip("/").partition("://")
    return f"{SPELLINGS.get(scheme, scheme)}://{rest}"
