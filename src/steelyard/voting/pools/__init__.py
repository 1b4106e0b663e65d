"""Responses, labels and verdicts as arrays, and simulated worlds to draw them from. Nothing here weighs or fits."""
