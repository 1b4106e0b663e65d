"""Masks passwords, tokens and signatures in addresses, in every error and warning."""

from __future__ import annotations

import re

PASSWORD = re.compile(r"\b(?:((?!a)\w+:/+)[^/\s]+|(\w+:/+)[^/\s@]*:\S*)@")  # az://container@account has no password
QUERY = re.compile(
    r"""(:/+[^\s'"]*?)(?:\?[^/\s=?#'"]*|\#[^\s=#'"]*)=  # ?name= or #name=, not the ? of a pattern
    (?:(?![,;:.)]{0,3}(?:[\s'"]|$))[^\s'"])*  # up to the punctuation after the address""",
    re.VERBOSE,
)
TOKEN = re.compile(r":/+\S*[?#][^/\s=]*=\S")  # a query, not the ? of a pattern


def mask_addresses(text: str) -> str:
    """Replace user names and passwords in addresses with ***, and remove queries.

    >>> mask_addresses("GET http://me:hunter2@host/a?sig=abc failed")
    'GET http://***@host/a failed'
    """
    return QUERY.sub(r"\1", PASSWORD.sub(r"\1\2***@", text)) if ":/" in text else text


def has_secret(address: str) -> bool:
    """Whether an address contains a password, token or signature.

    >>> has_secret("hf://datasets/a?token=b"), has_secret("s3://bucket/part-?.parquet"), has_secret("az://box@account/a")
    (True, False, False)
    """
    return ":/" in address and bool(PASSWORD.search(address) or TOKEN.search(address))
