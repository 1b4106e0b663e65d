"""The stopping rules, one per file; a rule is named in a plan by the `name` of its class."""
