"""Asking an OpenAI-compatible server: the client, its retries, its pace, what a server can do, and the embedded LLM."""
