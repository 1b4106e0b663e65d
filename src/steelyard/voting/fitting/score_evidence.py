"""Do the scores help? Evidence on held-out questions that weighing them beats the majority vote.

    evidence = sum over open questions of  log P_scores(correct) - log P_votes(correct)      in nats, held out

Both models are fitted on the other folds, several times with other folds, and the mean counts. The verdicts of the
same held-out questions are compared with those of the majority vote. The scores help where

    evidence - max(0, verdicts lost - verdicts won)  >  THRESHOLD

Verdicts alone are too few to see a useful verifier with 50 labels, and likelihood alone can rise while verdicts get
worse; so every verdict that is lost on balance has to be paid for by likelihood. A model with useless scores overfits
and has negative evidence on average; the threshold also pays for the penalty, which was chosen on the same questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.voting.fitting.conditional_logit import (
    MAJORITY,
    AnswerFeatures,
    Theta,
    fit_conditional_logit,
    fit_votes,
    log_chances,
)
from steelyard.voting.pools.arrays import Bools, Ints

THRESHOLD = 2.0  # nats
REPEATS = 4  # of the cross-fitting, each with other folds
GAIN = 0.03  # the gain over majority that more labels are to detect,
POWER = 2.8  # standard errors away from 0: at 5 % in four of five cases
FEWEST_CHANGED = 0.05  # share of the questions; the fewest that a useful plan decides otherwise


@dataclass(frozen=True)
class ScoreEvidence:
    """What held-out questions say about a plan that weighs scores, against the majority vote."""

    nats: float
    wins: float  # verdicts that only the plan has correct, on average over the repeats
    losses: float  # and that only the majority vote has correct
    questions: int

    @property
    def helps(self) -> bool:
        return self.nats - max(0.0, self.losses - self.wins) > THRESHOLD

    @property
    def more_labels(self) -> int:
        """How many more questions would show a gain of GAIN in verdicts, to the nearest ten.

        >>> ScoreEvidence(nats=0.2, wins=1.0, losses=1.0, questions=50).more_labels
        390
        """
        changed = max((self.wins + self.losses) / max(self.questions, 1), FEWEST_CHANGED)
        return max(10, round((changed * (POWER / GAIN) ** 2 - self.questions) / 10) * 10)


def score_evidence(
    answers: AnswerFeatures, penalty: float, fold_assignments: Sequence[Ints], questions: int
) -> ScoreEvidence:
    """Compare a plan with the majority vote on held-out folds; each assignment [Q] is one repeat."""
    nats, wins, losses = 0.0, 0, 0
    for assignment in fold_assignments:
        fold = assignment[answers.question]
        for k in np.unique(fold):
            seen, held = answers.take(fold != k), answers.take(fold == k)
            theta = fit_conditional_logit(seen, penalty)
            nats += _log_likelihood(held, theta) - _log_likelihood(held, fit_votes(seen))
            plan, majority = verdicts_correct(held, theta), verdicts_correct(held, MAJORITY)
            wins += int((plan & ~majority).sum())
            losses += int((majority & ~plan).sum())
    repeats = len(fold_assignments)
    return ScoreEvidence(nats / repeats, wins / repeats, losses / repeats, questions)


def verdicts_correct(answers: AnswerFeatures, theta: Theta) -> Bools:
    """Return which verdicts of a vote with theta are correct [Q']."""
    return answers.correct[answers.winners(answers.x @ theta)]


def _log_likelihood(answers: AnswerFeatures, theta: Theta) -> float:
    return float(log_chances(answers.take(answers.open), theta).sum())
