"""Totals by answer, ties, the weights of best-of-n, and other sums over the responses of an answer.

Sums are exact. Weights are rounded to a multiple of 2^-36 as they are added (finer in a question whose
weights are all tiny, coarser where one is huge), so a total below 2^17 carries no rounding error at
all: votes do not depend on the order of the responses, ties are true ties, and calibration agrees
with the vote to the last bit.
"""

from math import exp, log2  # as compiled; the last bits of numpy's may differ

import numpy as np

from steelyard.voting.kernels.compilation import by_index, compiled, standalone

# Adding and subtracting 1.5 * 2^(52-36) rounds a float64 to a multiple of 2^-36.
QUANTIZER = 1.5 * 2.0**16
TINY, HUGE = 2.0**-10, 2.0**15  # the largest value of a question for which that quantum is right
QUANTUM = 2.0**-36  # a score below it counts as this


@standalone
def answer_totals(starts, offsets, answer, weights, total, votes):  # type: ignore[no-untyped-def]
    """Sum the weights and count the votes of every answer as `tally` does; answer a of question q is offsets[q] + a."""
    for q in range(len(starts) - 1):
        largest = 0.0
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0:
                largest = max(largest, abs(weights[i]))
        quantum = quantum_for(largest)
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0:
                total[offsets[q] + answer[i]] += (weights[i] + quantum) - quantum
                votes[offsets[q] + answer[i]] += 1


@standalone
def sum_again(first, last, answer, weights, quantum, sums):  # type: ignore[no-untyped-def]
    """Sum the weights of a question's answers with another quantum."""
    for i in range(first, last):
        if answer[i] >= 0:
            sums[answer[i]] = 0.0
    for i in range(first, last):
        if answer[i] >= 0:
            sums[answer[i]] += (weights[i] + quantum) - quantum


@standalone
def merits(first, last, answer, scores, merit):  # type: ignore[no-untyped-def]
    """Sum the scores of a question's answers; a missing one counts as the question's mean."""
    scored, total, largest = 0, 0.0, 0.0
    for i in range(first, last):
        if answer[i] >= 0:
            merit[answer[i]] = 0.0
        if scores[i] == scores[i]:
            total += scores[i]
            largest = max(largest, scores[i])
            scored += 1
    mean = total / scored if scored else 0.0
    quantum = quantum_for(np.float64(largest))
    for i in range(first, last):
        if answer[i] >= 0:
            score = scores[i] if scores[i] == scores[i] else mean
            merit[answer[i]] += (score + quantum) - quantum


@standalone
def break_tie(first, last, answer, scores, sums, counts, merit, best):  # type: ignore[no-untyped-def]
    """Among answers with the total of `best`: higher total score, more votes, seen first."""
    top = sums[best]
    if scores.size:
        merits(first, last, answer, scores, merit)
    winner = -1
    for i in range(first, last):
        a = answer[i]
        if a >= 0 and sums[a] == top and a != winner:
            if winner < 0:
                winner = a
            elif scores.size and merit[a] != merit[winner]:
                if merit[a] > merit[winner]:
                    winner = a
            elif counts[a] > counts[winner]:
                winner = a
    return winner


@standalone
def best_weights(starts, answer, scores, chosen_in, weights):  # type: ignore[no-untyped-def]
    """Weight 1 on the first response of each answer that reaches the question's top score.

    Without any score in the question every response gets 1: the majority vote. `chosen_in` has -1 for every code.
    """
    for q in range(len(starts) - 1):
        top = -np.inf
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and scores[i] > top:
                top = scores[i]
        for i in range(starts[q], starts[q + 1]):
            a = answer[i]
            if a < 0:
                weights[i] = 0.0
            elif top == -np.inf:
                weights[i] = 1.0
            elif scores[i] == top and chosen_in[a] != q:
                weights[i] = 1.0
                chosen_in[a] = q
            else:
                weights[i] = 0.0


@standalone
def quantum_for(largest):  # type: ignore[no-untyped-def]
    """The constant that rounds values up to `largest` so that thousands of them add exactly."""
    if TINY <= largest <= HUGE or not 0 < largest < np.inf:
        return QUANTIZER
    return QUANTIZER * 2.0 ** np.ceil(log2(largest))


@standalone
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


@standalone
@by_index
def hand_out(starts, offsets, answer, z, slope, offset, extra, weights):  # type: ignore[no-untyped-def]
    """Weigh every response: slope z + offset, both by the size of the question, and its part of its answer's extra."""
    for q in range(len(starts) - 1):
        size = starts[q + 1] - starts[q]
        for i in range(starts[q], starts[q + 1]):
            weights[i] = (slope * z[i] + offset) / size
            if answer[i] >= 0:
                weights[i] += extra[offsets[q] + answer[i]]


@compiled
def rivals(starts, width, answer, k, code, rival):  # type: ignore[no-untyped-def]
    """Fill rival[q, i] with the most votes of any answer but code[q, i] among the first k[i] responses; k rises."""
    counts = np.zeros(max(1, width.max()), np.int64)
    for q in range(len(starts) - 1):
        counts[: width[q]] = 0
        row = starts[q]
        for i in range(len(k)):
            while row < min(starts[q] + k[i], starts[q + 1]):
                if answer[row] >= 0:
                    counts[answer[row]] += 1
                row += 1
            highest = 0
            for a in range(width[q]):
                if a != code[q, i]:
                    highest = max(highest, counts[a])
            rival[q, i] = highest
