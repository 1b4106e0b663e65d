"""Connections to object stores, opened once per process; errors are one line with the fix.

Credentials come from the variables AWS_*, GOOGLE_* and AZURE_*, as in polars, which uses the same library. Failed
requests are retried for half a minute; the library limits one request to half a minute.
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

PATIENCE, TRIES = 30, 100  # seconds for all tries together; the limit on tries is never reached
FORBIDDEN = re.compile(r"status code: 40[13]\b")
INSTALL = "install the package for object stores, also on every worker machine: pip install 'steelyard[remote]'"
NO_BUCKET = ("NoSuchBucket", "bucket does not exist", "ContainerNotFound")  # of S3, Google and Azure


@contextmanager
def open_store(address: str) -> Iterator[tuple[Any, str]]:
    """Yield the store and the object key of an address; a missing object raises FileNotFoundError."""
    scheme, _, rest = address.partition("://")
    authority, _, key = rest.partition("/")
    try:
        from obstore.exceptions import BaseError
    except ImportError:
        raise SettingError(f"{address} is on an object store: {INSTALL}") from None
    try:
        yield _store(scheme, authority, PATIENCE), key
    except (BaseError, NotImplementedError, ValueError, OSError) as error:
        if any(code in str(error) for code in NO_BUCKET):
            message = (
                f"{address} cannot be reached: there is no bucket or container {authority}; make it, or name another"
            )
            raise StoreError(message) from None
        if isinstance(error, FileNotFoundError):
            raise
        raise StoreError(_message(address, scheme, error)) from None


@cache
def _store(scheme: str, authority: str, patience: int) -> ObjectStore | LocalStore:
    from obstore.store import LocalStore, from_url

    if scheme == "file":
        return LocalStore()
    address = f"{'gs' if scheme == 'gcs' else scheme}://{authority}"
    return from_url(address, retry_config={"retry_timeout": timedelta(seconds=patience), "max_retries": TRIES})


def _message(address: str, scheme: str, error: Exception) -> str:
    """Describe an error of a store in one line, without secrets."""
    kind = type(error).__name__
    if scheme == "file":
        return (
            f"{address} cannot be reached ({str(error).partition(chr(10))[0]}): check that it may be read and written"
        )
    keys = keys_of(scheme)
    if kind in ("PermissionDeniedError", "UnauthenticatedError") or FORBIDDEN.search(str(error)):
        return f"{address} is refused with these credentials: set the variables {keys}, or grant read and write access"
    if kind in ("NotSupportedError", "NotImplementedError"):
        return (
            f"{address} is on a store without conditional puts, so that two commands could "
            "write into one folder: use a folder, or another store"
        )
    first = (str(error) or kind).partition("\n")[0].partition(": <")[0]  # the rest is an HTML page
    first = without_secrets(first)
    fix = f"check the address, the network and the variables {keys}, and run the command again"
    return f"{address} cannot be reached ({first[:300].strip()}): {fix}"
