"""Connections to object stores, opened once per process; addresses are checked, and errors are one line with the fix.

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
from steelyard.foundation.masking import mask_addresses, without_secrets

if TYPE_CHECKING:
    from obstore.store import LocalStore, ObjectStore

PATIENCE, TRIES = 30, 100  # seconds for all tries together; the limit on tries is never reached
FORBIDDEN = re.compile(r"status code: 40[13]\b")
INSTALL = "install the package for object stores, also on every worker machine: pip install 'steelyard[remote]'"
NO_BUCKET = ("NoSuchBucket", "bucket does not exist", "ContainerNotFound")  # of S3, Google and Azure
UNSAFE = frozenset("%?#*[]\\")  # characters with a special meaning in patterns or addresses


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


def check_spelling(address: str) -> None:
    """Refuse an address that libraries read differently, and user names and passwords.

    >>> check_spelling("abfss://container@account.dfs.core.windows.net/parts")
    """
    check_no_password(address)
    names = address.partition("://")[2].rstrip("/").split("/")[1:]
    refused = [
        *sorted({letter for letter in address if letter in UNSAFE or not letter.isprintable()}),
        *(f"/{name}/" if name else "//" for name in names if name in ("", ".", "..")),
    ]
    if refused:
        raise SettingError(
            f"{mask_addresses(address)!r:.200} contains {refused[0]!r}, which is refused in addresses: use another name"
        )


def check_no_password(address: str) -> None:
    """Refuse a user name or password before the bucket, because addresses are logged; the error omits it."""
    scheme, _, rest = address.partition("://")
    authority = rest.partition("/")[0]
    if ":" in authority or ("@" in authority and not scheme.startswith("a")):  # abfs://container@account has no key
        raise SettingError(
            f"an address {scheme}://.. has a user name or password before its bucket, and addresses are shown and "
            f"logged: leave it out, and set the variables {keys_of(scheme)}"
        )


def keys_of(scheme: str) -> str:
    """Return the pattern of the variables with the credentials of a store."""
    return {"s": "AWS_*", "g": "GOOGLE_*", "a": "AZURE_*"}[scheme[0]]
