"""Is everything there that a run needs? Findings about the server, the verifier and this machine."""
