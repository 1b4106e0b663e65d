"""The durable folder of a run: manifest, append-only journal, lock and derived table. Jobs live elsewhere."""
