from steelyard.evaluation.frugal import evaluate_frugal as evaluate_frugal
