"""The OpenAI-compatible server: a chat request comes in, samples are weighed, one original response goes back.

Routes parse, call one function and answer. The vote is the same code as that of `steelyard ask`.
"""
