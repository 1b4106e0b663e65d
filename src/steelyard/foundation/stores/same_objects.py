"""Whether an output object is one of the inputs, however those are spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from steelyard.foundation.files import address_of
from steelyard.foundation.stores.address import Address

SPELLINGS = {"s3a": "s3", "gcs": "gs", "abfss": "abfs"}  # two schemes of one store
PART = re.compile(r"part-\d{5}\.parquet")


def is_one_of(target: Address, sources: Iterable[Any]) -> bool:
    """Whether an object is a source, matches a source pattern, or is a part in a source folder.

    >>> table = Address("s3://bucket/parts/part-00001.parquet")
    >>> [is_one_of(table, [source]) for source in ("s3a://bucket/parts/", "s3://bucket/*/*.parquet", "s3://bucket/part")]
    [True, True, False]
    """
    return any(_is_one(_normalized(str(target)), source) for source in sources)


def _is_one(target: str, source: Any) -> bool:
    if isinstance(source, list | tuple):
        return any(_is_one(target, item) for item in source)
    address = address_of(source)
    if address is None:
        return False
    source = _normalized(address)
    folder, _, name = target.rpartition("/")
    return (
        target == source
        or (folder == source and PART.fullmatch(name) is not None)
        or fnmatchcase(target, source.replace("**/", "*"))
    )


def _normalized(address: str) -> str:
    scheme, _, rest = address.rstrip("/").partition("://")
    return f"{SPELLINGS.get(scheme, scheme)}://{rest}"
