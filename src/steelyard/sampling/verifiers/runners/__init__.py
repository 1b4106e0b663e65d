"""Where a verifier runs: in this process, on a vLLM server, on a chat server, or from what a run recorded."""
