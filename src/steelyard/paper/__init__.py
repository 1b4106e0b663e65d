"""The paper's tables and figures, one per file, made from a grid of scored tables."""
