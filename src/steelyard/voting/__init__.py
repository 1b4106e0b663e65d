"""Arrays in, verdicts out: the maths of the vote. It knows no file, no text, no network and no model."""
