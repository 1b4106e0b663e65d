"""The paper's tables and figures, one experiment per file, from a grid of scored tables. No method is defined here."""
