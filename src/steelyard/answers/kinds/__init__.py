"""The kinds of answers, one per file; the file name is the name users type. `re:PATTERN` is in ../extract.py.

A new kind is one file with a `KIND`.
"""

from __future__ import annotations

from pathlib import Path

from steelyard.answers.kind import Kind
from steelyard.foundation.registry import Registry

REGISTRY: Registry[Kind] = Registry(
    "kind of answer", __name__, Path(__file__).parent, lambda module: vars(module)["KIND"]
)
