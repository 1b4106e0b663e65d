"""What a calibrated vote is worth: measured on questions held out of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.calibration.slate import gathered
from steelyard.methods._folds import out_of_fold
from steelyard.methods.majority import MajorityVote
from steelyard.methods.vanilla import VanillaVote
from steelyard.pool import LabelledPool, Pool
from steelyard.weights.logit import expit

if TYPE_CHECKING:
    from steelyard.methods.calibrated import CalibratedVote


def assessed(vote: CalibratedVote, labelled: LabelledPool) -> dict[str, float]:
    """Return the gain over majority, vanilla and fewer questions, with standard errors, and how many samples do."""
    many = out_of_fold(vote, labelled, 5, seed=vote.seed)  # fitted on 80 % of the questions
    half = out_of_fold(vote, labelled, 2, seed=vote.seed)  # on 50 %
    if many is None or half is None:
        return {}
    base = {r.name(): r.predict(labelled.unlabelled()).right(labelled) for r in (MajorityVote(), VanillaVote())}
    steps = {"step": many - half} | {name: many - right for name, right in base.items()}
    gains = {name: float(step.mean()) for name, step in steps.items()}
    gains |= {f"{name}_se": float(step.std(ddof=1) / np.sqrt(len(step))) for name, step in steps.items()}
    return gains | {"enough": float(enough(vote, labelled, max(float(right.mean()) for right in base.values())))}


def enough(vote: CalibratedVote, labelled: LabelledPool, target: float) -> int:
    """The least power of two of samples with which it answers as many held-out questions as `target`, or all N."""
    sizes = (2**k for k in range(labelled.n.bit_length()) if 2**k < labelled.n)
    for n in sizes:
        right = out_of_fold(vote, labelled.first(n), 5, seed=vote.seed)
        if right is not None and right.mean() >= target:
            return int(n)
    return labelled.n


def against(vote: CalibratedVote, pool: Pool) -> float:
    """The share of responses without which their answer would stand better."""
    z = vote._evidence(pool.known_scores)
    found = gathered(pool, z)
    place = np.where(pool.readable, pool.spread(found.offsets) + pool.answer, 0)
    best = pool.readable & (z == found.top[place])
    alone = best & (np.bincount(place[best], minlength=len(found.n))[place] == 1)  # taking away the best one takes more
    beside = pool.readable & (found.n[place] > 1) & ~alone
    n, heard = found.n[place[beside]], found.heard[place[beside]]
    adds = (vote.votes_ - vote.mean_) * np.log(n / (n - 1))
    adds -= vote.mean_ * np.log1p(-expit(z[beside]) / heard)
    adds += (vote.slope_ * z[beside] - vote.offset_) / pool.spread(pool.sizes)[beside]
    return float((adds < 0).sum() / max(1, pool.readable.sum()))
