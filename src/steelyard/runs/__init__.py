"""Durable runs: a folder with a manifest, an append-only journal and the table that is derived from it."""
