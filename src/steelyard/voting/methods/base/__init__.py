"""What all methods share: the contract, the plan that stores one, assessment, explanation. No method lives here."""
