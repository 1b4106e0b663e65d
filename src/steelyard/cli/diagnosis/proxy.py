"""Which proxy is a server reached through, and can that proxy read the key?"""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.cli.diagnosis.finding import GOOD, NOTE, Finding
from steelyard.sampling.llm.address import Address, any_proxy, proxy_for


def look(address: Address) -> Iterator[Finding]:
    """Report how a server is reached, if a variable names a proxy."""
    if not any_proxy():
        return
    proxy = proxy_for(address.base)
    route = f"{address.base} is reached {f'through {proxy}' if proxy else 'directly'}"
    if proxy and address.has_secret and address.base.startswith("http:"):
        yield Finding(
            "proxy",
            NOTE,
            f"{route}, which can read the key because the connection is not encrypted",
            "use an https:// address for the server, or add its host to NO_PROXY",
        )
    else:
        yield Finding("proxy", GOOD, route)
