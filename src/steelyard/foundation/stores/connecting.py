"""The store that an address is on, opened once per process; what it refuses is one line with the fix.

It finds keys as polars does, in the variables AWS_*, GOOGLE_* and AZURE_*: both are made of the same library. What
fails is tried again, for half a minute; a request takes half a minute at most, as the library has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from steelyard.foundation.errors import SettingError, StoreError
from steelyard.foundation.stores.secrets import without_secrets
from steelyard.foundation.stores.spelling import keys_of

if TYPE_CHECKING:
    from obstore.store import LocalStore, ObjectStore

PATIENCE, TRIES = 30, 100  # seconds of all tries together, which end sooner than so many tries
FORBIDDEN = re.compile(r"status code: 40[13]\b")
INSTALL = "install what reaches it, also on every machine with workers: pip install 'steelyard[remote]'"
NO_BUCKET = ("NoSuchBucket", "bucket does not exist", "ContainerNotFound")  # as S3, Google and Azure say it


@contextmanager
def connected(address: str) -> Iterator[tuple[Any, str]]:
    """Yield the store of an address, and the key of its object there; one that is missing is a FileNotFoundError."""
    scheme, _, rest = address.partition("://")
    authority, _, key = rest.partition("/")
    try:
        from obstore.exceptions import BaseError
    except ImportError:
        raise SettingError(f"{address} is on an object store: {INSTALL}") from None
    try:
        yield _store(scheme, authority, PATIENCE), key
    except (BaseError, NotImplementedError, ValueError, OSError) as error:
        if any(word in str(error) for word in NO_BUCKET):
            told = f"{address} cannot be reached: there is no bucket or container {authority}; make it, or name another"
            raise StoreError(told) from None
        if isinstance(error, FileNotFoundError):
            raise
        raise StoreError(_told(address, scheme, error)) from None


@cache
def _store(scheme: str, authority: str, patience: int) -> ObjectStore | LocalStore:
    from obstore.store import LocalStore, from_url

    if scheme == "file":
        return LocalStore()
    address = f"{'gs' if scheme == 'gcs' else scheme}://{authority}"
    return from_url(address, retry_config={"retry_timeout": timedelta(seconds=patience), "max_retries": TRIES})


def _told(address: str, scheme: str, error: Exception) -> str:
    """What a store refused, in one line without anything that opens it."""
    kind = type(error).__name__
    if scheme == "file":
        return f"{address} cannot be reached ({str(error).partition(chr(10))[0]}): see that it may be read and written"
    keys = keys_of(scheme)
    if kind in ("PermissionDeniedError", "UnauthenticatedError") or FORBIDDEN.search(str(error)):
        return f"{address} is refused with these keys: set the variables {keys}, or have them allowed to read and write"
    if kind in ("NotSupportedError", "NotImplementedError"):
        return (
            f"{address} is on a store that cannot put an object only where there is none, so that two commands could "
            "write into one folder: use a folder, or another store"
        )
    first = (str(error) or kind).partition("\n")[0].partition(": <")[0]  # what comes then is a page of the server
    first = without_secrets(first)
    fix = f"see that the address, the network and the variables {keys} are correct, and run the command again"
    return f"{address} cannot be reached ({first[:300].strip()}): {fix}"
