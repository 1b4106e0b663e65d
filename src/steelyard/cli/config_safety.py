"""What steelyard.toml in the working directory may set.

The file may come with a downloaded folder, so it must not be able to open a port, send a key or a prompt to another
machine, or read and write other files. An option that is not listed here can only be set on the command line or in the
environment. A server must be on this machine, or on a host that the user trusts.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from steelyard.foundation.errors import SettingError

HARMLESS = {
    "how a table is read": "answers by labels layout only-unreadable rename score source",
    "how votes are computed": "answer-sets calibrate confidence-level frugal label-counts method n resamples risk "
    "seed set shuffle-scores splits",
    "what is read from the bundled grid": "cache quick",
    "prices and budgets to compute with": "budget loss price price-response price-score",
    "parameters of simulated responses": "bf16 bias dominating easy-share gap inconsistency questions rivals saturated "
    "unreadable zipf",
    "how samples are requested, from a server that is checked": "concurrency fan-out limit logprobs max-failures "
    "max-tokens retries sample-timeout temperature top-logprobs top-p try-timeout",
    "how responses are scored, where the command line allows it": "as context split verifier",
    "how work is divided, once --engine is on the command line": "gpus-per-worker parts workers",
}  # why they are harmless, and the options
CHECKED = {
    "upstream": "only on this machine, or on a host listed in STEELYARD_TRUSTED (cli/config_safety.py)",
    "verifier-upstream": "as upstream",
    "prompt": "only a built-in prompt, because any other value is the path of a file whose text is sent",
    "pair": "only a pair of the bundled grid, because any other value is the path of a file",
    "model": "only a name that is sent to a server; score reads it as the folder or hub name of weights",
}  # allowed for some values or verbs
ALLOWED = {option for options in HARMLESS.values() for option in options.split()} | CHECKED.keys()
KEYS = ("upstream", "verifier-upstream")
TRUSTED = "STEELYARD_TRUSTED"  # hosts, with commas between them


def check_allowed(verb: str, option: str, value: Any, location: str, variable: str) -> None:
    """Refuse an option or value that only the command line or the environment may set."""
    if option in ALLOWED and _is_harmless(verb, option, value):
        return
    raise SettingError(
        f"{location} sets {option}, which a file in the working directory may not set for {verb}: remove it, and "
        f"give --{option} on the command line or set {variable}"
    )


def _is_harmless(verb: str, option: str, value: Any) -> bool:
    from steelyard.tables.prompts import BUILT_IN

    if option == "prompt":
        return value in BUILT_IN
    if option == "pair":
        return str(value).startswith("grid:")
    return (verb, option) != ("score", "model")


def check_servers(key: str, value: Any) -> None:
    """Refuse servers that only steelyard.toml names, unless they are on this machine or the user trusts their hosts."""
    from steelyard.sampling.llm.upstreams import addresses_of

    if key in KEYS:
        text = ",".join(value) if isinstance(value, list) else str(value)
        for url in addresses_of(text):
            _check_host(key, url, text)


def _check_host(key: str, url: str, text: str) -> None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return  # not an address, which is reported when it is used
    host = parts.hostname if parts.scheme in ("http", "https") else None
    trusted = {name.strip().lower() for name in os.environ.get(TRUSTED, "").split(",")}
    if host is None or _on_this_machine(host) or host in trusted:
        return
    raise SettingError(
        f"steelyard.toml in this folder would send your prompts and your key to {host}: if you want that, add "
        f"--{key} {text.strip()}, or trust the host permanently with export {TRUSTED}={host}"
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
