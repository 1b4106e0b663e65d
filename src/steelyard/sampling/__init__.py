"""Asking an OpenAI-compatible server: the questions, the prompts, the client, its pace, and what the server can do."""
