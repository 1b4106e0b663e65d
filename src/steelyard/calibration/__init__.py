"""Calibration: where to put the counterweight, and how far to trust the LLM."""
