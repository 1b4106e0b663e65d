"""What is known of each answer of each question: its votes, summed scores, summed and highest logits."""

from math import exp  # as compiled; numpy's may have other last bits

from steelyard.voting.kernels.plain import by_index
from steelyard.voting.kernels.quantum import QUANTIZER, compiled

QUANTUM = 2.0**-36  # a score below it counts as this


@compiled
@by_index
def add_up_answers(starts, offsets, answer, z, n, score_sum, logit_sum, logit_max):  # type: ignore[no-untyped-def]
    """Add up the responses of every answer; answer a of question q stands at offsets[q] + a."""
    for q in range(len(starts) - 1):
        first = offsets[q]
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0:
                k, logit = first + answer[i], z[i]
                logit_max[k] = logit if n[k] == 0 else max(logit_max[k], logit)
                n[k] += 1
                score_sum[k] += max(1 / (1 + exp(-logit)) + QUANTIZER - QUANTIZER, QUANTUM)
                logit_sum[k] += logit


@compiled
@by_index
def hand_out(starts, offsets, answer, z, slope, offset, extra, weights):  # type: ignore[no-untyped-def]
    """Weigh every response: slope z + offset, both by the size of the question, and its part of its answer's extra."""
    for q in range(len(starts) - 1):
        size = starts[q + 1] - starts[q]
        for i in range(starts[q], starts[q + 1]):
            weights[i] = (slope * z[i] + offset) / size
            if answer[i] >= 0:
                weights[i] += extra[offsets[q] + answer[i]]
