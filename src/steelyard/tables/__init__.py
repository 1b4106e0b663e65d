"""Tables -> pools, and verdicts -> tables. Nothing here calls a server or weights an answer."""

from steelyard.tables.reading import pools_of, read
from steelyard.tables.writing import write

__all__ = ["pools_of", "read", "write"]
