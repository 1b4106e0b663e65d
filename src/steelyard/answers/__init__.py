"""Which answers are the same."""
