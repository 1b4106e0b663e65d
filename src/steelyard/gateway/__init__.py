"""The OpenAI-compatible server: a chat request comes in, samples are weighed, one original response goes back.

Routes parse, call one function and answer. What votes is the same code as `steelyard ask`.
"""
