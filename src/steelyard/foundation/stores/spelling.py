"""Checks of address syntax: all libraries must read an address alike, and it must not contain credentials."""

from __future__ import annotations

from steelyard.foundation.errors import SettingError
from steelyard.foundation.masking import mask_addresses

UNSAFE = frozenset("%?#*[]\\")  # characters with a special meaning in patterns or addresses


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
