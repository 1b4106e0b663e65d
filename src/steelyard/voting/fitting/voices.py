"""Sources that repeat each other have one voice between them: copies must not outvote the others.

Two sources have one voice where they give the same answer in nearly all questions in which one of them is wrong: by
the labels, or, without labels, in which one of them is against the vote of all the others. Two that are merely good
agree where they are correct, and part where one is not. Without labels nobody can tell a pair that is always
correct, against all others, from a pair of copies: it is said, and counts as one voice.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.fitting.consensus import agreement
from steelyard.voting.fitting.source_votes import SourceVotes
from steelyard.voting.pools.arrays import Bools, Codes
from steelyard.voting.pools.pool import LabelledPool, Pool

LOOKED_AT = 2000  # questions
WORK = 40_000_000  # comparisons
ALIKE = 0.9  # of the questions in trouble
CLOSE, CLOSER = 0.9, 0.98  # of all questions: with labels and without
FEWEST = 20  # of those
FEW = 5  # of those, if labels show them and they agree in all of them
SHOWN = 6  # names in a warning


def find_voices(pool: Pool, source: Codes, sources: int, names: tuple[str, ...], *, labels: bool) -> Codes:
    """Return the voice of every source [S], numbered 0, 1, ..; warn about sources that share one."""
    some = looked_at(pool, sources)
    rows = np.zeros(pool.n_questions, bool)
    rows[some] = True
    few, who = pool.take(np.flatnonzero(rows)), source[pool.spread(rows)]
    said = modal_answers(few, who, sources)
    known = few if labels and isinstance(few, LabelledPool) else None
    close = _candidates(said, CLOSER if known is None else CLOSE)
    if not close.any():
        return np.arange(sources, dtype=np.int32)
    voice = _numbered(_copies(few, who, said, close, known))
    for shared in np.flatnonzero(np.bincount(voice) > 1).tolist():
        members = [names[s] for s in np.flatnonzero(voice == shared).tolist()]
        listed = ", ".join(members[:SHOWN]) + (f" and {len(members) - SHOWN} more" if len(members) > SHOWN else "")
        when = "wrong" if known is not None else "against all the others"
        doubt = "" if known is not None else "; without labels copies cannot be told from two that are always correct"
        warnings.warn(
            f"{listed} give the same answer even where they are {when}, as copies do: they count as one voice{doubt}",
            SteelyardWarning,
            stacklevel=6,
        )
    return voice


def looked_at(pool: Pool, sources: int) -> NDArray[np.int64]:
    """Some of the questions of a large pool, evenly spaced over the order of ids."""
    most = max(40, min(LOOKED_AT, WORK // max(1, sources**2)))
    by_id = np.argsort(pool.rank)
    if pool.n_questions <= most:
        return by_id
    return by_id[np.linspace(0, pool.n_questions - 1, most).astype(np.int64)]


def modal_answers(pool: Pool, source: Codes, sources: int) -> NDArray[np.int32]:
    """Return the answer that each source gave most often [Q, S]; -1 for none."""
    from steelyard.voting import kernels

    said = np.full((pool.n_questions, sources), -1, np.int32)
    kernels.modal_answers(pool.starts, pool.width, pool.answer, source, said)
    return said


def _candidates(said: NDArray[np.int32], share: float) -> Bools:
    """Which pairs agree nearly always [S, S]; only these can be copies."""
    sources = said.shape[1]
    close = np.zeros((sources, sources), bool)
    for s in range(sources):
        both = (said >= 0) & (said[:, [s]] >= 0)
        same = ((said == said[:, [s]]) & both).sum(axis=0)
        close[s] = (both.sum(axis=0) >= FEWEST) & (same >= share * both.sum(axis=0))
    np.fill_diagonal(close, False)
    return close


def _copies(pool: Pool, source: Codes, said: NDArray[np.int32], close: Bools, known: LabelledPool | None) -> Bools:
    """Which of the close pairs agree also where one of them is in trouble [S, S]."""
    if known is not None:
        correct = np.append(known.answer_correct, False)
        place = np.where(said < 0, len(correct) - 1, known.base[:, None] + said)
        fine = correct[place]
    else:
        voice = _numbered(close)
        votes = SourceVotes.of(pool, voice[source], int(voice.max()) + 1)
        fine = agreement(votes, np.ones(votes.voices))[0][:, voice] > 0.5
    found = np.zeros_like(close)
    for s, t in np.argwhere(np.triu(close)).tolist():
        both = (said[:, s] >= 0) & (said[:, t] >= 0)
        trouble = both & ~(fine[:, s] & fine[:, t])
        same = trouble & (said[:, s] == said[:, t])
        alike = trouble.sum() >= FEWEST and same.sum() >= ALIKE * trouble.sum()
        plain = known is not None and trouble.sum() >= FEW and same.sum() == trouble.sum()
        found[s, t] = found[t, s] = alike or plain
    return found


def _numbered(linked: Bools) -> Codes:
    """Number the groups of sources that are linked, directly or through others [S]."""
    voice = np.arange(len(linked))
    for _ in range(len(linked)):
        least = np.minimum(voice, np.where(linked, voice[None, :], len(linked)).min(axis=1, initial=len(linked)))
        if np.array_equal(least, voice):
            break
        voice = least
    return np.unique(voice, return_inverse=True)[1].astype(np.int32)
