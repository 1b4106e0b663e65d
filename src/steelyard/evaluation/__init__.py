"""How good a vote is, and how sure we are of it."""
