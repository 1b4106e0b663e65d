"""Whether the packed reading of `score --local` gives the verdicts of reading responses one by one, on the grid."""
