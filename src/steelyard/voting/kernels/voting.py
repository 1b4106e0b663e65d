"""The vote: sums by answer, ties, and the weights of best-of-n."""

import numpy as np

from steelyard.voting.kernels.quantum import (
    HUGE,
    QUANTIZER,
    TINY,
    compiled,
    quantum_for,
)


@compiled
def tally(starts, width, answer, weights, scores, begin, end, code, total, margin, positive, votes, cast):  # type: ignore[no-untyped-def]
    """Count the questions begin..end: the winner, its total, lead and votes; all positive weight, all votes.

    Ties: higher total score (a missing one counts as the question's mean), then more votes,
    then the answer seen first. Returns whether every total is finite.
    """
    finite = True
    most = 1
    for q in range(begin, end):
        most = max(most, width[q])
    sums = np.zeros(most)
    counts = np.zeros(most, np.int64)
    merit = np.zeros(most)
    for q in range(begin, end):
        largest = 0.0
        for i in range(starts[q], starts[q + 1]):
            a = answer[i]
            if a >= 0:
                largest = max(largest, abs(weights[i]))
                sums[a] += (weights[i] + QUANTIZER) - QUANTIZER
                counts[a] += 1
        if largest < TINY or largest > HUGE:
            sum_again(starts[q], starts[q + 1], answer, weights, quantum_for(largest), sums)
        best, second, plus, absolute, present, tied = -1, -np.inf, 0.0, 0.0, 0, False
        cast[q] = 0
        for a in range(width[q]):
            if counts[a] > 0:
                present += 1
                cast[q] += counts[a]
                s = sums[a]
                absolute += abs(s)
                if s > 0:
                    plus += s
                if best < 0 or s > sums[best]:
                    if best >= 0:
                        second = sums[best]
                    best, tied = a, False
                else:
                    tied = tied or s == sums[best]
                    second = max(second, s)
        if tied:
            best = break_tie(starts[q], starts[q + 1], answer, scores, sums, counts, merit, best)
        code[q] = best
        if best >= 0:
            total[q] = sums[best]
            votes[q] = counts[best]
            margin[q] = sums[best] - second if present > 1 else absolute
        positive[q] = plus
        for a in range(width[q]):
            sums[a] = 0.0
            counts[a] = 0
        finite = finite and absolute < np.inf
    return finite


@compiled
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


@compiled
def sum_again(first, last, answer, weights, quantum, sums):  # type: ignore[no-untyped-def]
    """Sum the weights of a question's answers with another quantum."""
    for i in range(first, last):
        if answer[i] >= 0:
            sums[answer[i]] = 0.0
    for i in range(first, last):
        if answer[i] >= 0:
            sums[answer[i]] += (weights[i] + quantum) - quantum


@compiled
def merits(first, last, answer, scores, merit):  # type: ignore[no-untyped-def]
    """Sum the scores of a question's answers; a missing one counts as the question's mean."""
    known, total, largest = 0, 0.0, 0.0
    for i in range(first, last):
        if answer[i] >= 0:
            merit[answer[i]] = 0.0
        if scores[i] == scores[i]:
            total += scores[i]
            largest = max(largest, scores[i])
            known += 1
    mean = total / known if known else 0.0
    quantum = quantum_for(np.float64(largest))
    for i in range(first, last):
        if answer[i] >= 0:
            score = scores[i] if scores[i] == scores[i] else mean
            merit[answer[i]] += (score + quantum) - quantum


@compiled
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


@compiled
def best_weights(starts, width, answer, scores, weights):  # type: ignore[no-untyped-def]
    """Weight 1 on the first response of each answer that reaches the question's top score.

    Without any score in the question every response gets 1: the majority vote.
    """
    given = np.full(max(1, width.max()), -1, np.int64)
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
            elif scores[i] == top and given[a] != q:
                weights[i] = 1.0
                given[a] = q
            else:
                weights[i] = 0.0
