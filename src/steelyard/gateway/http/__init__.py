"""The routes, and what surrounds them: connections, the error envelope, relayed streams."""
