"""exact: read as `math` is, and compared as it is written."""

from __future__ import annotations

from steelyard.answers.kind import Kind, short
from steelyard.answers.kinds import math

KIND = Kind("exact", math.MARKED, math.LOOSE, short, str.strip)
