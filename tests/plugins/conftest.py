"""The tools warn about themselves (streams left open, deprecated calls): their warnings fail no test."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "plugins" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
