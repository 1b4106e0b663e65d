"""Every name of an engine stands for one in this process."""

from __future__ import annotations

import pytest

from tests.engine.engines import Here


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Here:
    """The engine of `generate` and `score`, whatever is given."""
    made = Here()
    for place in ("generate", "score"):
        monkeypatch.setattr(f"steelyard.engine.{place}.engine_of", lambda _: made)
    return made
