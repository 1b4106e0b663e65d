"""A file in the working directory may come from a stranger: it alone never sends prompts and a key elsewhere."""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from steelyard.foundation.errors import SettingError

KEYS = ("upstream", "verifier-upstream")
TRUSTED = "STEELYARD_TRUSTED"  # hosts, with commas between them


def check_servers(key: str, value: Any) -> None:
    """Refuse servers that only steelyard.toml names, unless they are on this machine or the user trusts their hosts."""
    from steelyard.sampling.llm.upstreams import addresses_of

    if key in KEYS:
        said = ",".join(value) if isinstance(value, list) else str(value)
        for url in addresses_of(said):
            _check(key, url, said)


def _check(key: str, url: str, said: str) -> None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return  # no address at all, which is told when it is used
    host = parts.hostname if parts.scheme in ("http", "https") else None
    trusted = {name.strip().lower() for name in os.environ.get(TRUSTED, "").split(",")}
    if host is None or _on_this_machine(host) or host in trusted:
        return
    raise SettingError(
        f"steelyard.toml in this folder would send your prompts and your key to {host}: if you want that, give "
        f"--{key} {said.strip()}, or trust the host for good with export {TRUSTED}={host}"
    )


def _on_this_machine(host: str) -> bool:
    """Whether a host is this machine, whatever a name server says.

    >>> _on_this_machine("127.0.0.1"), _on_this_machine("localhost"), _on_this_machine("127.0.0.1.example.com")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
