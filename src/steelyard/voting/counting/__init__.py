"""The tally, which is the only place that sums weights, and the weight functions of a score. Nothing here is fitted."""
