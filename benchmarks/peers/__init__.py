"""Other packages that vote, run on the same responses as Steelyard: `python -m benchmarks.peers`."""
