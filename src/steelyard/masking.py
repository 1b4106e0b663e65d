"""Addresses without what opens them: passwords, tokens and signatures. Every error and warning is masked here."""

from __future__ import annotations

import re

PASSWORD = re.compile(r"\b(?:((?!a)\w+:/+)[^/\s]+|(\w+:/+)[^/\s@]*:\S*)@")  # az://container@account has none
QUERY = re.compile(r"""(:/+[^\s?#'"]*)(?:\?[^\s'"]+|#[^\s'"]*=[^\s'"]*)""")
TOKEN = re.compile(r":/+\S*[?#][^/\s=]*=\S")  # a query, not the ? of a pattern


def mask_addresses(text: str) -> str:
    """The text with *** for names and passwords in addresses, and without their queries.

    >>> mask_addresses("GET http://me:hunter2@host/a?sig=abc failed")
    'GET http://***@host/a failed'
    """
    return QUERY.sub(r"\1", PASSWORD.sub(r"\1\2***@", text)) if ":/" in text else text


def has_secret(address: str) -> bool:
    """Whether an address has a password, token or signature in it.

    >>> has_secret("hf://datasets/a?token=b"), has_secret("s3://bucket/part-?.parquet"), has_secret("az://box@account/a")
    (True, False, False)
    """
    return ":/" in address and bool(PASSWORD.search(address) or TOKEN.search(address))
