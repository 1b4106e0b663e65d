"""The environment of subprocesses.

It contains no keys, because subprocesses read untrusted text, and it stops Python from importing modules from the
working directory, which may be untrusted.
"""

from __future__ import annotations

import os
import re

CLIENT_KEY = "STEELYARD_KEY"  # the key that clients of `steelyard serve` have to send
CLIENT_CERTIFICATE = "STEELYARD_CLIENT_CERT"  # the PEM file for servers that require a client certificate
KEY_NAMES: set[str] = set()  # variables that were read as keys
_KEYLIKE = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$|_PROXY$", re.IGNORECASE
)  # a proxy may include a password
SAFE_PATH = "PYTHONSAFEPATH"  # keeps the working directory out of sys.path


def without_keys() -> dict[str, str]:
    """Return the environment without the variables that were read as keys or look like keys."""
    environment = {
        name: value for name, value in os.environ.items() if name not in KEY_NAMES and not _KEYLIKE.search(name)
    }
    return environment | {SAFE_PATH: "1"}
