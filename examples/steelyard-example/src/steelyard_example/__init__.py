"""One method and one verifier for Steelyard, found by their entry points."""
