"""Tables in, pools out; verdicts in, tables out."""

from steelyard.tables.reading import each_pool, read
from steelyard.tables.writing import write

__all__ = ["each_pool", "read", "write"]
