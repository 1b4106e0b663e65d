"""The probability that a verdict is correct: a model, risk control, drift, calibration error. No method lives here."""
