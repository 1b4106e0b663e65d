"""How well the confidence has held so far, and whether scores have drifted since the plan was fitted."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from steelyard.voting.confidence.calibration_error import calibration_curve
from steelyard.voting.confidence.drift import MOST_REFERENCES, score_drift
from steelyard.voting.score_weights import clipped_logit

MIN_SCORED = 20  # requests whose scores can be compared with those of the calibration set


class Label(NamedTuple):
    """The label of a request, and the confidence of its vote; None: it had none."""

    correct: tuple[bool, ...]  # per answer
    verdict: bool
    confidence: float | None


class RecentScores:
    """The evidence in the scores of recent requests; `reference` is that of the calibration set."""

    def __init__(self, reference: tuple[float, ...] = ()) -> None:
        self.reference = reference
        self.means: deque[float] = deque(maxlen=MOST_REFERENCES)  # one per request

    def add(self, scores: Sequence[float]) -> None:
        if scores:
            self.means.append(float(np.mean(clipped_logit(np.array(scores)))))

    def drift(self) -> dict[str, Any] | None:
        """How far the scores have moved from those of the calibration set; None if too few are known."""
        if len(self.means) < MIN_SCORED or not self.reference:
            return None
        drift = score_drift(self.reference, list(self.means))
        return None if drift is None else {**vars(drift), "moved": drift.warning is not None}


def summary_of(labels: Sequence[Label], requests: int, scores: RecentScores) -> dict[str, Any]:
    """The reply of GET /v1/feedback; `requests` is how many can be labelled."""
    rated = [(label.confidence, label.verdict) for label in labels if label.confidence is not None]
    confidence = np.array([sure for sure, _ in rated])
    curve = calibration_curve(confidence, np.array([verdict for _, verdict in rated], bool)) if rated else None
    return {
        "object": "steelyard.feedback_summary",
        "requests": requests,
        "labelled": len(labels),
        "correct": sum(label.verdict for label in labels),
        "with_confidence": len(rated),
        "confidence": float(confidence.mean()) if rated else None,
        "calibration_error": curve.ece if curve else None,
        "bins": [vars(row) for row in curve.bins] if curve else [],
        "drift": scores.drift(),
    }
