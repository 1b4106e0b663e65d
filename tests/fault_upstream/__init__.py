"""An OpenAI-compatible server that misbehaves on request, in a process of its own, with a ledger of every request.

The model's name says what goes wrong: `fault:KIND[@ARGUMENT][#SEED][!][?WORD][&no-n]`. `!` is only the first time a
body is seen, `?WORD` only when the prompt holds WORD, `#SEED` only for the request that asks for the sample of that
seed, and `&no-n` is a server that gives one choice per request. What is `held` is answered when its WORD is released.
A name that does not begin with `fault:` is a good server: choice j of a request with seed s has the text of
(prompt, s + j), as vLLM does it, so that every sample has one right text. With `stream: true` it streams.
The ledger is a file of JSON lines: `arrived` with what was asked, `left` with the bytes sent and who closed.
"""
