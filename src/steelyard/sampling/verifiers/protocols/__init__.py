"""The protocols, one per file. A file that begins with _ holds shared parts."""
