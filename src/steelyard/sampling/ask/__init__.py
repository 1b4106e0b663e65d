"""Samples one question until its answer is settled."""
