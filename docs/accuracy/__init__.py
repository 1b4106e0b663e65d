"""The evidence for the default: `python -m docs.accuracy` measures it and writes docs/accuracy.md."""
