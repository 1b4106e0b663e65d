"""Embeddings: the vector of a response, by which responses are compared (answers/similarities/cosine.py).

The vector is that of the response without its thoughts. The question is not part of the text: it is the same for all
responses that are compared, and would make all of them more alike.
"""

from __future__ import annotations

from steelyard.sampling.verifiers.protocol import EmbeddingProtocol, Verifier

PROTOCOL = EmbeddingProtocol(
    description="the vector of the response by an embedding model (/v1/embeddings), for votes on free text with "
    "`--answers free:cosine:embeddings`; it is not a score",
    verifiers=(Verifier("embeddings", "", "answer"),),
)
