"""Votes of several voters: what each says, whom the others agree with, and the sums of Dawid and Skene's model.

A voter is a source, or several that repeat each other. Its N samples of a question share one vote: each is 1 / N of it
(`unit` [R]). `voter` [R] is a small code; -1 does not vote.
"""

import numpy as np

from steelyard.voting.kernels.compilation import compiled

NEAR = 1e-9  # totals closer than this are tied


@compiled
def vote_units(starts, voter, voters, unit):  # type: ignore[no-untyped-def]
    """Fill unit [R]: one over the samples of the voter in the question, readable or not; 0 for no voter."""
    count = np.zeros(max(1, voters), np.int64)
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            if voter[i] >= 0:
                count[voter[i]] += 1
        for i in range(starts[q], starts[q + 1]):
            unit[i] = 1.0 / count[voter[i]] if voter[i] >= 0 else 0.0
        for i in range(starts[q], starts[q + 1]):
            if voter[i] >= 0:
                count[voter[i]] = 0


@compiled
def modal_answers(starts, width, answer, source, modal):  # type: ignore[no-untyped-def]
    """Fill modal [Q, S] with the answer that each source gave most often, of equals the first; -1 for none."""
    counts = np.zeros((modal.shape[1], max(1, width.max())), np.int64)
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and source[i] >= 0:
                s = source[i]
                counts[s, answer[i]] += 1
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and source[i] >= 0:
                s = source[i]
                if modal[q, s] < 0 or counts[s, answer[i]] > counts[s, modal[q, s]]:
                    modal[q, s] = answer[i]
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and source[i] >= 0:
                counts[source[i], answer[i]] = 0


@compiled
def source_weights(starts, source, voter, worth, more, weights):  # type: ignore[no-untyped-def]
    """Weigh every response: what its source is worth and what its score adds, by the samples of its voter.

    voter and worth [S] by source; more [R], or empty.
    """
    count = np.zeros(max(1, voter.max() + 1), np.int64)
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            count[voter[source[i]]] += 1
        for i in range(starts[q], starts[q + 1]):
            weights[i] = worth[source[i]] + (more[i] if len(more) else 0.0)
            samples = count[voter[source[i]]]
            if samples > 1:
                weights[i] /= samples
        for i in range(starts[q], starts[q + 1]):
            count[voter[source[i]]] = 0


@compiled
def agreement(starts, width, answer, voter, unit, weight, agrees):  # type: ignore[no-untyped-def]
    """Fill agrees [Q, V]: how much of each voter's vote is for the answer that all the others choose; -1 if not asked.

    Ties of the others count by half. Returns over all questions the mass of pairs of voters that are both outside the
    winner of all, and of those that give the same answer there.
    """
    voters = len(weight)
    widest = max(1, width.max())
    shares = np.zeros((voters, widest))  # of voters with several samples
    total, mass = np.zeros(widest), np.zeros(widest)
    same = both = 0.0
    for q in range(len(starts) - 1):
        m = width[q]
        for i in range(starts[q], starts[q + 1]):
            v = voter[i]
            if v >= 0:
                agrees[q, v] = 0.0
                if answer[i] >= 0:
                    mass[answer[i]] += unit[i]
                    total[answer[i]] += unit[i] * weight[v]
                    if unit[i] < 1:
                        shares[v, answer[i]] += unit[i]
        best, second = -1, -1.0  # the winner, and the best total beside it
        for k in range(m):
            if best < 0 or total[k] > total[best] + NEAR:
                second = total[best] if best >= 0 else -1.0
                best = k
            else:
                second = max(second, total[k])
        wrong_all = wrong_own = 0.0
        for i in range(starts[q], starts[q + 1]):
            v, k = voter[i], answer[i]
            if v < 0 or k < 0:
                continue
            if unit[i] == 1:
                others = total[k] - weight[v]
                rival = second if k == best else total[best]
                if others > NEAR and others > rival - NEAR:
                    agrees[q, v] = 0.5 if others < rival + NEAR else 1.0
                if k != best:
                    same -= 1.0
                    wrong_all += 1.0
                    wrong_own += 1.0
            elif shares[v, k] > 0:  # the first of its responses; then it is empty
                top, ties = NEAR, 0
                for a in range(m):
                    others = total[a] - weight[v] * shares[v, a]
                    if others > top + NEAR:
                        top, ties = others, 1
                    elif ties and others > top - NEAR:
                        ties += 1
                wrong = 0.0
                for a in range(m):
                    mine = shares[v, a]
                    if mine > 0:
                        if ties and total[a] - weight[v] * mine > top - NEAR:
                            agrees[q, v] += mine / min(ties, 2)
                        if a != best:
                            wrong += mine
                            same -= mine**2
                        shares[v, a] = 0.0
                wrong_all += wrong
                wrong_own += wrong**2
        both += wrong_all**2 - wrong_own
        for k in range(m):
            if k != best:
                same += mass[k] ** 2
            mass[k] = total[k] = 0.0
    return same, both


@compiled
def votes_together(answers, posterior, together):  # type: ignore[no-untyped-def]
    """Add to together [V, K, K] how often each voter answered l while k was correct, by voter, l and k."""
    for q in range(answers.shape[0]):
        for v in range(answers.shape[1]):
            if answers[q, v] >= 0:
                for k in range(posterior.shape[1]):
                    together[v, answers[q, v], k] += posterior[q, k]


@compiled
def add_evidence(answers, log_confusion, z):  # type: ignore[no-untyped-def]
    """Add to z [Q, K] the log-likelihood of each voter's answer; log_confusion [V, K, K] by voter, answer and k."""
    for q in range(answers.shape[0]):
        for v in range(answers.shape[1]):
            if answers[q, v] >= 0:
                for k in range(z.shape[1]):
                    z[q, k] += log_confusion[v, answers[q, v], k]
