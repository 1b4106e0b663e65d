"""One method, one verifier and one layout for Steelyard, found by their entry points."""
