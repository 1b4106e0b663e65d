"""Mask credentials in messages of other libraries: keys, signatures, and passwords in addresses."""

from __future__ import annotations

import os
import re

from steelyard.foundation.masking import mask_addresses

SECRET = re.compile(r"^(AWS|GOOGLE|AZURE)_.*(SECRET|TOKEN|KEY|SAS|PASSWORD)", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """Return the text with *** in place of credentials.

    >>> without_secrets("GET http://me:hunter2@host/a?sig=abc failed")
    'GET http://***@host/a failed'
    """
    for name, value in os.environ.items():
        if SECRET.match(name) and len(value) > 3:
            text = text.replace(value, "***")
    return mask_addresses(text)
