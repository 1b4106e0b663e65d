"""The two sums of Dawid and Skene's model (fitting/dawid_skene.py), over all votes: said [Q, V] with -1 for none."""

from steelyard.voting.kernels.quantum import compiled


@compiled
def votes_together(said, posterior, together):  # type: ignore[no-untyped-def]
    """Add to together [V, K, K] how often each voice said l while k was correct, by voice, l and k."""
    for q in range(said.shape[0]):
        for v in range(said.shape[1]):
            if said[q, v] >= 0:
                for k in range(posterior.shape[1]):
                    together[v, said[q, v], k] += posterior[q, k]


@compiled
def add_evidence(said, log_said, z):  # type: ignore[no-untyped-def]
    """Add to z [Q, K] the log of how likely each voice says what it said, log_said [V, K, K] by voice, l and k."""
    for q in range(said.shape[0]):
        for v in range(said.shape[1]):
            if said[q, v] >= 0:
                for k in range(z.shape[1]):
                    z[q, k] += log_said[v, said[q, v], k]
