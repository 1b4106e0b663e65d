"""The experiments of the paper, one per file."""
