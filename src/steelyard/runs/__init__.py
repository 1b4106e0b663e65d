"""The durable folder of a run: manifest, append-only journal, lock, derived table. It knows no job and no server."""
