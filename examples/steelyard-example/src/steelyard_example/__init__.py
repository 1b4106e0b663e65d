"""One method, one verifier, one layout and one similarity for Steelyard, found by their entry points."""
