"""Scores the samples of a run or a table with a verifier: all of them, or on demand."""
