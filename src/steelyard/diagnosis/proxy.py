"""Through which proxy is a server reached?"""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.diagnosis.finding import GOOD, Finding
from steelyard.llm.proxies import any_proxy, proxy_for


def look(base: str) -> Iterator[Finding]:
    """How a server is reached, where a variable names a proxy; nothing where none does."""
    if any_proxy():
        proxy = proxy_for(base)
        yield Finding("proxy", GOOD, f"{base} is reached {f'through {proxy}' if proxy else 'directly'}")
