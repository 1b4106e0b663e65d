"""The experiments of the paper, one a file."""
