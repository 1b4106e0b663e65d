"""A verifier that reads what the run recorded: it asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.sampling.verifiers.protocol import RecordedProtocol
from steelyard.sampling.verifiers.scored_items import Item, Results, checked


class Recorded:
    """Reads samples."""

    def __init__(self, protocol: RecordedProtocol) -> None:
        self.protocol = protocol
        self.found: dict[str, Any] = {"where": "recorded"}

    async def score(self, items: Iterator[Item]) -> Results:
        """Read each sample."""
        for item in items:
            found = self.protocol.read(item.sample)
            yield item, self.protocol.missing if found is None else checked(found, truncated=False)

    async def close(self) -> None:
        """Nothing to close."""
