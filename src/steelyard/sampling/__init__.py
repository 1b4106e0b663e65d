"""Asks LLMs and verifiers, once per request, whatever happens: generate, score, ask. It prints nothing."""
