"""Tables in, pools out; verdicts in, tables out. Nothing here asks a server or weighs an answer."""

from steelyard.tables.reading import pools_of, read
from steelyard.tables.writing import write

__all__ = ["pools_of", "read", "write"]
