"""Rules for the offset b below which a score counts against its answer, one per file."""
