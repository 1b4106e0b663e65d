"""The asking rules, one per file; a rule is named by the `name` of its class."""
