"""docs/sample-committees.md: how to divide samples among LLMs."""
