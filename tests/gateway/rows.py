"""Rows of a test of which a few are run each time, and the others, which repeat the mechanism, with the long tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def rows(values: Sequence[Any], *quick: Any) -> list[Any]:
    """All values, as parameters of a test; those that are not among the quick ones are long."""
    assert all(value in values for value in quick)
    return [value if value in quick else pytest.param(value, marks=pytest.mark.long) for value in values]
