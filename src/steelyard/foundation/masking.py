"""Masks passwords, tokens and signatures in addresses, in every error and warning."""

from __future__ import annotations

import os
import re

PASSWORD = re.compile(r"\b(?:((?!a)\w+:/+)[^/\s]+|(\w+:/+)[^/\s@]*:\S*)@")  # az://container@account has no password
WORD = re.compile(r"\S+")
ADDRESS = re.compile(r"""(\w*):/+[^\s'"]*""")
SEPARATOR = re.compile(r"([?#])")
PUNCTUATION = ",;:.)"  # that may follow an address
SECRET = re.compile(r"^(AWS|GOOGLE|AZURE)_.*(SECRET|TOKEN|KEY|SAS|PASSWORD)", re.IGNORECASE)


def mask_addresses(text: str) -> str:
    """Replace user names and passwords in addresses with ***, and remove queries.

    >>> mask_addresses("GET http://me:hunter2@host/a?sig=abc failed")
    'GET http://***@host/a failed'
    """
    return ADDRESS.sub(_without_query, WORD.sub(_without_password, text)) if ":/" in text else text


def has_secret(address: str) -> bool:
    """Whether an address contains a password, token or signature.

    >>> has_secret("hf://datasets/a?token=b"), has_secret("s3://bucket/part-?.parquet"), has_secret("az://box@account/a")
    (True, False, False)
    """
    if ":/" not in address:
        return False
    return WORD.sub(_without_password, address) != address or any(
        _query_start(match[0]) is not None for match in ADDRESS.finditer(address)
    )


def _without_password(match: re.Match[str]) -> str:
    before, at, after = match[0].rpartition("@")
    return PASSWORD.sub(r"\1\2***@", before + at) + after  # searched no further than the last @: takes linear time


def _without_query(match: re.Match[str]) -> str:
    address = match[0].rstrip(PUNCTUATION)
    start = _query_start(address, is_web=match[1] in ("http", "https"))
    return match[0] if start is None else address[:start] + match[0][len(address) :]


def _query_start(address: str, *, is_web: bool = False) -> int | None:
    """Where the query of an address starts; elsewhere than on the web a ? alone is a pattern (part-?.parquet).

    >>> _query_start("https://host/a?TOKEN", is_web=True), _query_start("s3://box/p-?/year=2024")
    (14, None)
    """
    start, *parts = SEPARATOR.split(address)
    at = len(start)
    for separator, text in zip(parts[::2], parts[1::2], strict=True):
        name, equals, _ = text.partition("=")
        if (equals and "/" not in name.rpartition("&")[2]) or (is_web and separator == "?" and text):
            return at
        at += 1 + len(text)
    return None


def without_secrets(text: str) -> str:
    """Return a message of another library with *** in place of credentials, also those in environment variables.

    >>> without_secrets("GET http://me:hunter2@host/a?sig=abc failed")
    'GET http://***@host/a failed'
    """
    for name, value in os.environ.items():
        if SECRET.match(name) and len(value) > 3:
            text = text.replace(value, "***")
    return mask_addresses(text)
