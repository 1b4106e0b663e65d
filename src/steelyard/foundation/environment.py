"""The environment that our own processes start with.

It has no keys, because text from outside is read there, and Python imports nothing from the working directory, which
may belong to a stranger.
"""

from __future__ import annotations

import os
import re

CLIENT_KEY = "STEELYARD_KEY"  # the key that clients of `steelyard serve` have to send
CLIENT_CERTIFICATE = "STEELYARD_CLIENT_CERT"  # the PEM file that is shown to servers that ask for a certificate
KEY_NAMES: set[str] = set()  # variables that were read as keys
_KEYLIKE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$|_PROXY$", re.IGNORECASE)  # with a password
SAFE_PATH = "PYTHONSAFEPATH"  # keeps the working directory out of sys.path


def without_keys() -> dict[str, str]:
    """The environment without the variables that hold keys, by what was read as one and by their names."""
    named = {name: value for name, value in os.environ.items() if name not in KEY_NAMES and not _KEYLIKE.search(name)}
    return named | {SAFE_PATH: "1"}
