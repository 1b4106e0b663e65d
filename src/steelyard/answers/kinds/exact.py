"""exact: extracted like `math` and compared literally; an empty string is an answer."""

from __future__ import annotations

from steelyard.answers.kind import Kind, short
from steelyard.answers.kinds import math

KIND = Kind("exact", math.MARKED, math.LOOSE, short, str.strip, blank=True)
