"""Weight functions: what a score is worth. One a file, arrays in, arrays out."""
