"""The protocols, one a file. A file that begins with _ holds shared parts."""
