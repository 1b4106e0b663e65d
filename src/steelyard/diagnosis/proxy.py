"""Which proxy is a server reached through?"""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.diagnosis.finding import GOOD, Finding
from steelyard.llm.proxies import any_proxy, proxy_for


def look(base: str) -> Iterator[Finding]:
    """Report how a server is reached, if a variable names a proxy."""
    if any_proxy():
        proxy = proxy_for(base)
        yield Finding("proxy", GOOD, f"{base} is reached {f'through {proxy}' if proxy else 'directly'}")
