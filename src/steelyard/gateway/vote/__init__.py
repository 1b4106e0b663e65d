"""The vote on one request: samples, scores, policies and the decision."""
