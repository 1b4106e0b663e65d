"""How much the feature sets of a question's texts overlap, for every pair of texts."""

import numpy as np

from steelyard.voting.kernels.compilation import compiled

STEPS = 1 << 16  # similarities are multiples of 1 / STEPS, rounded in integers: equal on all machines


@compiled
def overlaps(starts, begins, width, features, dice, offsets, blocks):  # type: ignore[no-untyped-def]
    """Fill blocks with |A & B| / |A | B| (dice: 2 |A & B| / (|A| + |B|)) for all texts A and B of a question.

    Question q has the texts starts[q]:starts[q+1], and text t the features[begins[t]:begins[t+1]]: codes within its
    question, below width[q]; a repeated code counts once. The block of question q begins at offsets[q], row by row. Its
    diagonal is 1; a text without features is similar to no other.

    Each feature has a list of the texts that have it, and a text is added to its lists when it has been compared with
    them: a pair takes as many steps as it shares features.
    """
    max_texts = max_features = 0
    for q in range(len(starts) - 1):
        max_texts = max(max_texts, starts[q + 1] - starts[q])
        max_features = max(max_features, begins[starts[q + 1]] - begins[starts[q]])
    widest = max(1, width.max())
    first = np.zeros(widest + 1, np.int64)  # index of the first text on the list of a feature
    length = np.zeros(widest, np.int64)
    latest = np.zeros(widest, np.int64)  # the last text on the list
    texts = np.zeros(max_features, np.int32)  # the lists, one after the other
    size = np.zeros(max_texts, np.int64)
    shared = np.zeros(max_texts, np.int64)
    for q in range(len(starts) - 1):
        n = starts[q + 1] - starts[q]
        first[: width[q] + 1] = 0
        length[: width[q]] = 0
        latest[: width[q]] = -1
        for e in range(begins[starts[q]], begins[starts[q + 1]]):
            first[features[e] + 1] += 1
        for f in range(width[q]):
            first[f + 1] += first[f]
        for a in range(n):
            size[a] = 0
            shared[:a] = 0
            for e in range(begins[starts[q] + a], begins[starts[q] + a + 1]):
                f = features[e]
                if latest[f] == a:
                    continue
                latest[f] = a
                size[a] += 1
                end = first[f] + length[f]
                for i in range(first[f], end):
                    shared[texts[i]] += 1
                texts[end] = a
                length[f] += 1
            blocks[offsets[q] + a * n + a] = 1.0
            for b in range(a):
                part, total = shared[b], size[a] + size[b] - shared[b]
                if dice:
                    part, total = 2 * shared[b], size[a] + size[b]
                value = 0.0
                if part > 0:
                    value = ((2 * STEPS * part + total) // (2 * total)) / STEPS
                blocks[offsets[q] + a * n + b] = value
                blocks[offsets[q] + b * n + a] = value
