"""How an address may be spelled: so that all libraries read it alike, and nothing in it opens the store."""

from __future__ import annotations

from steelyard.foundation.errors import SettingError
from steelyard.foundation.masking import mask_addresses

UNSAFE = frozenset("%?#*[]\\")  # what a pattern or an address means otherwise than as a letter


def check_spelling(address: str) -> None:
    """Refuse what one library reads otherwise than another does, and names and passwords.

    >>> check_spelling("abfss://container@account.dfs.core.windows.net/parts")
    """
    check_no_password(address)
    names = address.partition("://")[2].rstrip("/").split("/")[1:]
    odd = [
        *sorted({letter for letter in address if letter in UNSAFE or not letter.isprintable()}),
        *(f"/{name}/" if name else "//" for name in names if name in ("", ".", "..")),
    ]
    if odd:
        raise SettingError(
            f"{mask_addresses(address)!r:.200} has {odd[0]!r} in it, which is refused in addresses: name it otherwise"
        )


def check_no_password(address: str) -> None:
    """Refuse a name or a password before the bucket: addresses are shown and written down. It is not repeated here."""
    scheme, _, rest = address.partition("://")
    authority = rest.partition("/")[0]
    if ":" in authority or ("@" in authority and not scheme.startswith("a")):  # abfs://container@account has no key
        raise SettingError(
            f"an address {scheme}://.. has a name or a password before its bucket, and addresses are shown and written "
            f"down: leave it out, and set the variables {keys_of(scheme)}"
        )


def keys_of(scheme: str) -> str:
    """The variables with the keys of a store."""
    return {"s": "AWS_*", "g": "GOOGLE_*", "a": "AZURE_*"}[scheme[0]]
