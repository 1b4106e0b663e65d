"""The operator's page: its data and its static files."""
