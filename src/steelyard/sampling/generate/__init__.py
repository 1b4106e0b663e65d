"""Draws the samples of a run, with one request per sample or batch, and records each before it counts."""
