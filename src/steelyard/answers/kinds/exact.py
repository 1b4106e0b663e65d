"""exact: read as `math` is, and compared as it is written; an empty text is an answer."""

from __future__ import annotations

from steelyard.answers.kind import Kind, short
from steelyard.answers.kinds import math

KIND = Kind("exact", math.MARKED, math.LOOSE, short, str.strip, blank=True)
