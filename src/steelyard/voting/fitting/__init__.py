"""What is estimated from labelled pools: offsets, regressions, densities, reliability. It knows no method, no file."""
