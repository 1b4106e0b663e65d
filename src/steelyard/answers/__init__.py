"""Extract the answer from a response, and decide which answers are the same. Tables and votes live in other folders."""
