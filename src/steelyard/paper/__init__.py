"""The paper's tables and figures, one a file, made from a grid of scored tables."""
