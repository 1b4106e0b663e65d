"""How good a vote is, and how sure we are of it: figures with their errors. It reads no file and draws nothing."""
